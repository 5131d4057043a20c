"""Writes detect.json: what SciPy and NumPy compute, for the tests of the stopping
rule, the variances, the detectors and the smallest difference of package stat.

    python3 -m venv venv && venv/bin/pip install scipy==1.17.1 numpy==2.4.6
    venv/bin/python detect.py
"""

import json
import math
import pathlib

import numpy as np
from scipy import optimize, stats

rng = np.random.default_rng(20261121)


def series(n, kind):
    noise = 0.03 * rng.standard_normal(n)
    x = {
        "normal": noise,
        "skew": 0.03 * rng.exponential(1, n) ** 2,
        "drift": noise + np.linspace(0, 0.15, n),
        "modes": 0.3 * noise + 0.2 * (rng.random(n) < 0.4),
        "order": np.cumsum(noise),
    }[kind]
    return np.exp(x).round(6) * 100


def enough():
    cases = []
    for n, spread, least, half in [(6, 0.01, 6, 0.02), (6, 0.03, 6, 0.02), (7, 0.03, 6, 0.02), (12, 0.05, 6, 0.02),
                                   (12, 0.02, 12, 0.02), (12, 0.02, 6, 0.02), (30, 0.05, 6, 0.02), (6, 0.4, 6, 0.02), (2, 0.05, 2, 0.05)]:
        ratios = np.exp(spread * rng.standard_normal(n)).round(9)
        sd = np.std(np.log(ratios), ddof=1)

        def narrow(m):
            level = 0.96 if m > least else 0.95
            return stats.t.ppf((1 + level) / 2, m - 1) * sd / math.sqrt(m) <= half

        cases.append({"ratios": ratios.tolist(), "least": least, "half": half, "spread": float(sd),
                      "enough": next((m for m in range(n, n + 1001) if narrow(m)), n + 1001)})
    return cases


def watched():
    cases = []
    for n in (6, 7, 12, 40):
        figures = np.exp(0.02 + 0.05 * rng.standard_normal(n)).round(9)
        level = 0.95 if n == 6 else 0.96
        test = stats.ttest_1samp(np.log(figures), 0)
        ci = test.confidence_interval(level)
        cases.append({"figures": figures.tolist(), "low": math.exp(ci.low), "high": math.exp(ci.high),
                      "p": min(1, float(test.pvalue) * 0.05 / (1 - level))})
    return cases


def detectors():
    cases = []
    for kind in ("normal", "skew", "drift", "modes", "order"):
        for n in (6, 9, 10, 17, 24, 40, 48):
            x = series(n, kind)
            logs = np.log(x)
            tau = stats.kendalltau(np.arange(n), logs, method="exact")
            slope = stats.theilslopes(logs, np.arange(n)).slope
            ranks = stats.rankdata(logs)
            centred = ranks - ranks.mean()
            ratio = np.sum(np.diff(ranks) ** 2) / np.sum(centred**2)
            shape = 5 * n * (n + 1) * (n - 1) ** 2 / (2 * (n - 2) * (5 * n**2 - 2 * n - 9)) - 0.5
            s = np.sort(logs)
            least = max(2, math.ceil(n / 8))
            splits = [(np.var(s[:k]) * k + np.var(s[k:]) * (n - k), k) for k in range(least, n - least + 1)]
            within, k = min(splits)
            cases.append({
                "kind": kind, "figures": x.tolist(),
                "total": float(np.exp(slope * (n - 1))), "drift": float(tau.pvalue),
                "r": float(np.sum(centred[1:] * centred[:-1]) / np.sum(centred**2)),
                "order": float(stats.beta.cdf(ratio / 4, shape, shape)),
                "skewness": float(stats.skew(logs)), "skew": float(stats.skewtest(logs).pvalue) if n >= 8 else 1,
                "within": float(within / (np.var(s) * n)), "upper": n - k, "gap": float(np.exp(s[k:].mean() - s[:k].mean())),
            })
    return cases


def split_limits():
    """The share that the best split leaves within its parts, in 1 % of normal samples at most."""
    limits = []
    for n in (6, 8, 10, 12, 16, 20, 24, 32):
        least, shares = max(2, math.ceil(n / 8)), []
        for _ in range(10):
            s = np.sort(rng.standard_normal((20000, n)), axis=1)
            k = np.arange(least, n - least + 1)
            sums, squares = np.cumsum(s, 1), np.cumsum(s * s, 1)
            total, total2 = sums[:, -1:], squares[:, -1:]
            low = squares[:, k - 1] - sums[:, k - 1] ** 2 / k
            high = total2 - squares[:, k - 1] - (total - sums[:, k - 1]) ** 2 / (n - k)
            shares.append(((low + high) / (total2 - total**2 / n)).min(axis=1))
        limits.append({"n": n, "within": float(np.quantile(np.concatenate(shares), 0.01))})
    return limits


def steady_from():
    rng.standard_normal(287)  # of a section that is gone: those behind it keep theirs
    cases = []
    for launches, shape in [(5, "first"), (6, "first"), (12, "first"), (12, "none"), (12, "fall"), (12, "small")]:
        noise = 0.001 if shape == "small" else 0.01
        x = 100 * np.exp(0.03 * rng.standard_normal((launches, 1)) + noise * rng.standard_normal((launches, 5)))
        if shape == "first":
            x[:, 0] *= 1.1
        if shape == "small":
            x[:, 0] *= 1.005
        if shape == "fall":
            x *= np.linspace(1.5, 1, 5)
        x = x.round(6)
        start = 0
        for j in range(4 if launches >= 6 else 0):
            steps = np.log(x[:, j]) - np.log(x[:, j + 1:]).mean(axis=1)
            if abs(steps.mean()) > math.log(1.01) and stats.ttest_1samp(steps, 0).pvalue < 0.01 / 4:
                start = j + 1
        cases.append({"launches": x.tolist(), "start": start, "steady": 2 * (5 - start) >= 5})
    return cases


def variances():
    """Balanced: the formulas of Kalibera and Jones 2013, section 6, by levels."""
    rng, cases = np.random.default_rng(7), []
    for layouts, launches, windows in [(1, 6, 5), (4, 3, 5), (8, 4, 2)]:
        x = (0.05 * rng.standard_normal((layouts, 1, 1)) + 0.04 * rng.standard_normal((layouts, launches, 1))
             + 0.08 * rng.standard_normal((layouts, launches, windows)))
        figures = np.exp(x).round(9)
        x = np.log(figures)
        s1 = x.var(axis=2, ddof=1).mean()
        s2 = x.mean(axis=2).var(axis=1, ddof=1).mean()
        t2 = s2 - s1 / windows
        t3 = None if layouts == 1 else max(0, float(x.mean(axis=(1, 2)).var(ddof=1) - s2 / launches))
        if t2 < 0:
            raise SystemExit("a component below zero: take another seed")
        cases.append({"figures": figures.tolist(), "windows": float(s1), "launches": float(t2), "layouts": t3,
                      "repetitions": math.ceil(math.sqrt(30 / 2 * s1 / t2))})
    return cases


def smallest():
    cases = []
    for spread, n in [(0.02, 6), (0.02, 12), (0.05, 24), (0.1, 60), (0.03, 300)]:
        critical = stats.t.ppf(0.975, n - 1)
        shift = optimize.brentq(lambda d: stats.nct.sf(critical, n - 1, d) - 0.8, 0.5, 10)
        cases.append({"spread": spread, "launches": n, "difference": math.expm1(shift * spread / math.sqrt(n))})
    return cases


def shares():
    cases = []
    for hits, total in [(0, 20), (3, 200), (10, 200), (20, 20), (1, 1000)]:
        ci = stats.binomtest(hits, total).proportion_ci(0.95, method="exact")
        cases.append({"hits": hits, "total": total, "low": float(ci.low), "high": float(ci.high)})
    return cases


sections = {
    "enough": enough(), "watched": watched(), "detectors": detectors(), "splits": split_limits(),
    "steady_from": steady_from(), "variances": variances(), "smallest": smallest(), "shares": shares(),
}
lines = ",\n".join(
    f'"{name}": [\n' + ",\n".join(json.dumps(case) for case in cases) + "\n]" for name, cases in sections.items()
)
pathlib.Path(__file__).with_name("detect.json").write_text("{\n" + lines + "\n}\n")
