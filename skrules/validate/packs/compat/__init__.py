"""What the documentation says of products: APIs, mixed kernels and SK_BIND that one of them does not have."""
