"""Drivers whose functions are coroutines: a client is a task of one event loop. Imported
before assay_worker, it makes a library of the same code, with the words that this has in
comments: `# async` stands before its line, `# await` before what is called in it."""

import asyncio
import os
import re
import sys
import types

loop = asyncio.new_event_loop()


class Queue(asyncio.Queue):
    put = asyncio.Queue.put_nowait


class Barrier:
    """All tasks are there when the first one runs: it begins."""

    def __init__(self, _tasks, begin):
        self.waits = [begin]

    def wait(self):
        while self.waits:
            self.waits.pop()()


def wait(result):
    return loop.run_until_complete(result) if asyncio.iscoroutine(result) else result


def together(calls):
    async def tasks():
        await asyncio.gather(*(call() for call in calls))

    loop.run_until_complete(tasks())


def library(name, **names):
    """A module of the library with tasks for clients."""
    path = os.path.join(os.path.dirname(__file__), name + ".py")
    with open(path, encoding="utf-8") as file:
        text = re.sub(r"(?m)^( *)(.*)  # async$", r"\1async \2", file.read())
    text = re.sub(r"(?m)^( *(?:return |[\w, ]+ \+?= )?)(.*)  # await$", r"\1await \2", text)
    sys.modules[name] = module = types.ModuleType(name)
    exec(compile(text, path, "exec"), module.__dict__)
    module.__dict__.update(names)


library("assay_measure", Queue=Queue, Barrier=Barrier, Condition=asyncio.Condition, CLIENTS="tasks of one event loop", wait=wait, together=together)
library("assay_worker")
