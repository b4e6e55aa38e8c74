"""Distribution metadata of boring-bo; tool settings live in ``pyproject.toml``."""

from pathlib import Path

from setuptools import find_packages, setup

PACKAGES = ("boring", "baselines", "synthetic")

# What the default optimiser needs, and nothing else.
CORE = [
    "numpy>=2.0",
    "scipy>=1.15",
    "pymanopt>=2.2.1",
    "threadpoolctl>=3.5",
    "tqdm>=4.60",
]

# GPy as a backend and a place to carry fitted models to; boring/models/_gpy.py loads it.
GPY = ["GPy>=1.14.2"]
# Pictures, drawn from the checkout by `python -m experiments`.
PLOT = ["matplotlib>=3.9"]
# Test problems on the data sets that scikit-learn bundles; synthetic/tasks loads it.
TASKS = ["scikit-learn>=1.6"]
# Chordal completion and junction trees; baselines/additive/junction_tree.py loads it.
GRAPHS = ["networkx>=3.2"]
# The solver whose tuning is a test problem; synthetic/tasks/mip.py loads it.
MIP = ["highspy>=1.16"]
# Typed parameters (boring/parameters), studies with a locked journal (boring/study), data frames.
STUDY = ["ConfigSpace>=1.2", "filelock>=4.0", "pandas>=2.2.2"]
# BoringSampler; boring/integrations/optuna_sampler.py loads it.
OPTUNA = ["optuna>=4.0"]
# BoringSearchCV; boring/integrations/search_cv.py loads it.
SEARCH_CV = ["scikit-learn>=1.6"]
# Classifiers, forests, mixtures (baselines/_scikit.py loads them) and networks with their samplers
# (baselines/neural loads them) as surrogates.
NEURAL = ["scikit-learn>=1.6", "jax>=0.9", "blackjax>=1.4", "optax>=0.2.4"]
# The BBOB functions; synthetic/bbob.py loads it.
BBOB = ["ioh>=0.4.2"]
# Evaluation on more than one machine; boring/study loads nothing of it.
DASK = ["distributed>=2024.1"]
# Independent references of the tests.
REFERENCES = ["autograd>=1.8", *TASKS]

DEV = [
    *GPY,
    *PLOT,
    *REFERENCES,
    *GRAPHS,
    *MIP,
    *STUDY,
    *OPTUNA,
    *DASK,
    *NEURAL,
    *BBOB,
    "hypothesis>=6.90",
    "mypy>=1.8",
    "pytest>=8.0",
    "pytest-timeout>=2.2",
    "pytest-xdist>=3.5",
    "ruff>=0.5",
    "setuptools>=77.0.3",
]

setup(
    name="boring-bo",
    version="0.1.0",
    description="High-dimensional Bayesian optimisation that learns an active subspace and says so",
    long_description=Path(__file__).with_name("README.md").read_text(encoding="utf-8"),
    long_description_content_type="text/markdown",
    author="boring-bo contributors",
    license="MIT",
    license_files=["LICENSE"],
    python_requires=">=3.11",
    packages=find_packages(
        include=[pattern for name in PACKAGES for pattern in (name, f"{name}.*")]
    ),
    package_data={
        **{name: ["py.typed"] for name in PACKAGES},
        "boring.report": ["page.html", "style.css", "sort.js"],
    },
    zip_safe=False,
    entry_points={"console_scripts": ["boring = boring.study.cli:main"]},
    install_requires=CORE,
    extras_require={
        "gpy": GPY,
        "plot": PLOT,
        "tasks": TASKS,
        "graphs": GRAPHS,
        "mip": MIP,
        "study": STUDY,
        "optuna": [*STUDY, *OPTUNA],
        "sklearn": [*STUDY, *SEARCH_CV],
        "dask": [*STUDY, *DASK],
        "neural": NEURAL,
        "bbob": BBOB,
        # Optimisers of others, to compare with.
        "peers": [
            *GPY,
            *PLOT,
            "GPyOpt>=1.2.6",
            "setuptools<82",  # The last with pkg_resources, which GPyOpt imports.
            "cma>=3.3",
            "nevergrad>=1.0.12",
            "optuna>=4.0",
            "scikit-optimize>=0.10.2",
            "smac>=2.3",
            "trust-bo>=0.3",
        ],
        # One version, so that a CPU build installed beforehand is kept: `make torch-peers`.
        "torch-peers": ["torch==2.13.0", "botorch>=0.18"],
        "docs": [*PLOT, "furo>=2024.1", "myst-parser>=3.0", "sphinx>=8.0"],
        "notebooks": [
            *PLOT,
            *TASKS,
            "ipykernel>=6.0",
            "jupytext>=1.16",
            "nbclient>=0.10",
            "nbformat>=5.9",
        ],
        "dev": DEV,
    },
    keywords=["bayesian optimization", "gaussian process", "active subspace", "high-dimensional"],
    classifiers=[
        "Development Status :: 3 - Alpha",
        "Intended Audience :: Science/Research",
        "Operating System :: OS Independent",
        "Programming Language :: Python :: 3",
        "Programming Language :: Python :: 3.11",
        "Programming Language :: Python :: 3.12",
        "Programming Language :: Python :: 3.13",
        "Topic :: Scientific/Engineering :: Mathematics",
        "Typing :: Typed",
    ],
)
