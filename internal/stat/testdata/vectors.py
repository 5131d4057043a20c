"""Writes vectors.json: what SciPy and NumPy compute, for the tests of package stat.

    python3 -m venv venv && venv/bin/pip install scipy==1.17.1 numpy==2.4.6
    venv/bin/python vectors.py
"""

import json
import math
import pathlib

import numpy as np
import scipy
from scipy import stats

MIN_PAIRS = 2
MOST_MORE = 1000
rng = np.random.default_rng(20261120)


def t_quantiles():
    freedoms = [*range(1, 31), 40, 60, 99, 100, 250, 999, 1005]
    return [{"freedom": f, "quantile": float(stats.t.ppf(0.975, f))} for f in freedoms]


def interval(values):
    ci = stats.ttest_1samp(values, 0).confidence_interval(0.95)
    return {"N": len(values), "Center": float(np.mean(values)), "Low": float(ci.low), "High": float(ci.high)}


def exponential(i):
    return {k: v if k == "N" else math.exp(v) for k, v in i.items()}


def intervals():
    samples = [
        [1, 2],
        [1, 2, 3, 4, 5, 6],
        [0.001, 1000, 1],
        [1203.5, 1187.2, 1240.9, 1199.9, 1210.4, 1193.3],
        [2.1e9, 1.9e9, 2.0e9, 2.3e9, 2.05e9, 1.95e9, 2.15e9],
        rng.lognormal(7, 0.03, 12).round(3).tolist(),
        rng.lognormal(0, 1, 50).round(6).tolist(),
    ]
    return [{"values": s, "mean": interval(s), "log": exponential(interval(np.log(s)))} for s in samples]


def ratios():
    cases = []
    for n, ratio, sd, noise in [
        (2, 1.1, 0.02, 0), (4, 1.01, 0.02, 0), (6, 1.0, 0.03, 0), (6, 1.02, 0.1, 0), (6, 0.98, 0.05, 0.01),
        (6, 1.0, 0.3, 0), (6, 1.2, 0.1, 0.05), (6, 0.7, 0.4, 0.03), (6, 1.01, 0.03, 0.05), (8, 1.5, 0.02, 0.04),
        (10, 1.0, 0.01, 0), (12, 1.03, 0.05, 0), (20, 0.97, 0.1, 0), (30, 1.004, 0.2, 0),
    ]:
        reference = rng.lognormal(7, 0.1, n).round(3)
        figures = (reference * ratio * rng.lognormal(0, sd, n)).round(3)
        ci = stats.ttest_rel(np.log(figures), np.log(reference)).confidence_interval(0.95)
        cases.append({
            "figures": figures.tolist(), "reference": reference.tolist(), "margin": 0.02, "noise": noise,
            "ratio": {"N": n, "Center": float(stats.gmean(figures / reference)), "Low": math.exp(ci.low), "High": math.exp(ci.high)},
        })
    return cases


def percentiles():
    cases = []
    for n, p in [(200, 0.5), (1000, 0.9), (1009, 0.9), (10000, 0.99), (10001, 0.99), (100000, 0.999), (5000, 0.07), (777, 0.333)]:
        samples = np.ceil(rng.lognormal(3, 0.5, n)).astype(int)
        uppers, counts = np.unique(samples, return_counts=True)
        value = np.quantile(samples, p, method="inverted_cdf")
        cases.append({"uppers": uppers.tolist(), "counts": counts.tolist(), "p": p, "value": float(value)})
    return cases


sections = {"t": t_quantiles(), "intervals": intervals(), "ratios": ratios(), "percentiles": percentiles()}
lines = ",\n".join(
    f'"{name}": [\n' + ",\n".join(json.dumps(case) for case in cases) + "\n]" for name, cases in sections.items()
)
head = f'"scipy": "{scipy.__version__}",\n"numpy": "{np.__version__}",\n'
pathlib.Path(__file__).with_name("vectors.json").write_text("{\n" + head + lines + "\n}\n")
