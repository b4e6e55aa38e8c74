"""Neural networks as surrogates, with samplers and variational inference on JAX (extra neural)."""
