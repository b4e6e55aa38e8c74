"""``python -m boring``: the command `boring`."""

import sys

from boring.study.cli import main

if __name__ == "__main__":
    sys.exit(main())
