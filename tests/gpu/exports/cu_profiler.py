"""cuProfilerStart and cuProfilerStop around a block: the same two calls for every framework."""
import contextlib
import ctypes


@contextlib.contextmanager
def profiled():
    driver = ctypes.CDLL("libcuda.so.1")
    driver.cuProfilerStart()
    try:
        yield
    finally:
        driver.cuProfilerStop()
