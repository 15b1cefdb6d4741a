#!/usr/bin/python3
"""The training step of bench_backend_model in PyTorch, for a comparison on the same machine.

    pytorch_step.py LAYERS WIDTH HEADS VOCAB BATCH SEQUENCE fp32|bf16 STEPS

Prints the tokens/s of the median step. Threads: OMP_NUM_THREADS. bf16 is autocast: weights stay in fp32.
"""

import contextlib
import math
import statistics
import sys
import time

import torch
from torch import nn
from torch.nn import functional


class Block(nn.Module):
    def __init__(self, width, heads, sequence):
        super().__init__()
        self.heads = heads
        self.attention_norm, self.mlp_norm = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.projection = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        future = torch.ones(sequence, sequence, dtype=torch.bool).triu(1)
        self.register_buffer("future", future, persistent=False)

    def mix(self, x):
        batch, tokens, width = x.shape
        q, k, v = (
            part.view(batch, tokens, self.heads, width // self.heads).transpose(1, 2)
            for part in self.qkv(x).split(width, dim=2)
        )
        scores = (q @ k.transpose(2, 3)) * (1 / math.sqrt(width // self.heads))
        share = functional.softmax(scores.masked_fill(self.future, -math.inf), dim=-1)
        return self.projection((share @ v).transpose(1, 2).reshape(batch, tokens, width))

    def forward(self, x):
        x = x + self.mix(self.attention_norm(x))
        return x + self.down(functional.gelu(self.up(self.mlp_norm(x)), approximate="tanh"))


class Gpt(nn.Module):
    def __init__(self, layers, width, heads, vocab, sequence):
        super().__init__()
        self.tokens, self.positions = nn.Embedding(vocab, width), nn.Embedding(sequence, width)
        self.blocks = nn.Sequential(*(Block(width, heads, sequence) for _ in range(layers)))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, vocab, bias=False)

    def forward(self, tokens, targets):
        x = self.tokens(tokens) + self.positions.weight
        logits = self.head(self.norm(self.blocks(x)))
        return functional.cross_entropy(logits.flatten(0, 1).float(), targets.flatten())


def main():
    layers, width, heads, vocab, batch, sequence = map(int, sys.argv[1:7])
    numbers, steps = sys.argv[7], int(sys.argv[8])
    torch.manual_seed(1)
    model = Gpt(layers, width, heads, vocab, sequence)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, betas=(0.9, 0.95), weight_decay=0.1, foreach=True)
    tokens = torch.arange(batch * sequence).mul(31).remainder(256).view(batch, sequence)
    seconds = []
    for _ in range(steps + 1):
        begin = time.perf_counter()
        optimizer.zero_grad(set_to_none=True)
        rounding = torch.autocast("cpu", torch.bfloat16) if numbers == "bf16" else contextlib.nullcontext()
        with rounding:
            loss = model(tokens, tokens)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1)
        optimizer.step()
        seconds.append(time.perf_counter() - begin)
    print(f"{batch * sequence / statistics.median(seconds[1:]):.1f}")  # the first one also builds kernels


main()
