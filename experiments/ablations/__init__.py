"""Studies behind the defaults: one part changed at a time, the figures printed as a table."""
