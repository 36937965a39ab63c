"""A training step of a small model in PyTorch, for exports: profiled alone, or timed by PyTorch's own profiler.

    torch_step.py                    one step between cuProfilerStart and cuProfilerStop, after three to warm up
    torch_step.py --trace FILE       five steps under torch.profiler, the trace written to FILE
    torch_step.py --layers N         a transformer of N encoder layers instead of the two-layer model
"""
import argparse

import torch
from cu_profiler import profiled


def model_of(layers):
    torch.manual_seed(1)
    if layers == 0:
        return torch.nn.Sequential(torch.nn.Linear(1024, 4096), torch.nn.GELU(), torch.nn.LayerNorm(4096),
                                   torch.nn.Linear(4096, 1024)).cuda()
    layer = torch.nn.TransformerEncoderLayer(512, 8, 2048, dropout=0.0, batch_first=True)
    return torch.nn.TransformerEncoder(layer, layers, enable_nested_tensor=False).cuda()


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--trace")
    options.add_argument("--layers", type=int, default=0)
    asked = options.parse_args()
    model = model_of(asked.layers)
    shape = (16384, 1024) if asked.layers == 0 else (32, 512, 512)
    data, target = torch.randn(shape, device="cuda"), torch.randn(shape, device="cuda")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, foreach=False)

    def step():
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cuda", dtype=torch.bfloat16):
            loss = torch.nn.functional.mse_loss(model(data), target)
        loss.backward()
        optimizer.step()

    for _ in range(3):
        step()
    torch.cuda.synchronize()
    if asked.trace:
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
            for _ in range(5):
                step()
            torch.cuda.synchronize()
        profile.export_chrome_trace(asked.trace)
        return
    with profiled():
        step()
        torch.cuda.synchronize()


main()
