"""The usual PyTorch recipe for a wake head on features that lie in a cache of tenpass: seconds for some steps."""
import hashlib, json, struct, sys, time

import numpy
import torch

path, steps = sys.argv[1], int(sys.argv[2])
torch.set_num_threads(int(sys.argv[3]))
torch.manual_seed(0)
clips, near, streams = [], [], []
with open(path, "rb") as file:
    assert file.read(8) == b"TPFEAT01", "no file of features"
    while head := file.read(44):
        count = struct.unpack_from("<I", head, 32)[0]
        data = file.read(count * 4)
        assert hashlib.sha256(data).digest()[:8] == head[36:44], "a damaged record"
        values = numpy.frombuffer(data, dtype="<f4").reshape(-1, 96)
        if len(values) == 18:
            clips.extend(values[at:at + 16].reshape(-1) for at in range(3))
        elif len(values) < 40:
            near.extend(values[at:at + 16].reshape(-1) for at in range(0, len(values) - 15, 2))
        else:
            streams.append(values)
everything = numpy.concatenate(streams)
mean, scale = everything.mean(0), everything.std(0) + 1e-6
standard = lambda rows: torch.from_numpy(((rows.reshape(len(rows), -1, 96) - mean) / scale).reshape(len(rows), -1).astype("float32"))
positives, near = standard(numpy.stack(clips)), standard(numpy.stack(near))
flat = standard(everything).reshape(-1)
starts = torch.tensor([at for at in range(0, len(everything) - 16)])
window = torch.arange(1536)

layer = lambda inputs: [torch.nn.Linear(inputs, 32), torch.nn.LayerNorm(32), torch.nn.ReLU()]
model = torch.nn.Sequential(*layer(1536), *layer(32), torch.nn.Linear(32, 1))
optimiser = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.01)
targets = torch.cat([torch.zeros(1074), torch.ones(50)])


def step(weight):
    chosen = starts[torch.randint(len(starts), (1024,))] * 96
    general = flat.as_strided((len(starts), 1536), (96, 1))[chosen // 96]
    batch = torch.cat([general, near[torch.randint(len(near), (50,))], positives[torch.randint(len(positives), (50,))]])
    weights = torch.cat([torch.full((1074,), weight), torch.ones(50)])
    loss = torch.nn.functional.binary_cross_entropy_with_logits(model(batch).squeeze(1), targets, weight=weights)
    optimiser.zero_grad()
    loss.backward()
    optimiser.step()
    return float(loss)


for _ in range(50):
    step(1.0)
begun = time.perf_counter()
for number in range(steps):
    loss = step(1.0 + 1499.0 * number / steps)
print(json.dumps({"seconds": time.perf_counter() - begun, "loss": loss, "positives": len(positives), "frames": len(everything)}))
