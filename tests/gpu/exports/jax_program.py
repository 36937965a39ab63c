"""A jitted JAX function, for exports: a matmul in BF16, a softmax, a reduction."""
import jax
import jax.numpy as jnp
from cu_profiler import profiled


@jax.jit
def work(a, b):
    return jax.nn.softmax((a @ b).astype(jnp.float32), axis=-1).sum(axis=0)


def main():
    keys = jax.random.split(jax.random.PRNGKey(1))
    a = jax.random.normal(keys[0], (4096, 4096), jnp.bfloat16)
    b = jax.random.normal(keys[1], (4096, 4096), jnp.bfloat16)
    work(a, b).block_until_ready()
    with profiled():
        work(a, b).block_until_ready()


main()
