"""Finds settings of SQLite in Python files, which it parses and never runs. It reads
a JSON list of [name, text] on standard input, and prints one of what each says."""

import ast
import json
import re
import sys
import warnings

ENGINE = "django.db.backends.sqlite3"
# Keys of a database of Django that are no settings of SQLite.
NEUTRAL = ("ENGINE", "NAME", "USER", "PASSWORD", "HOST", "PORT", "TEST", "ATOMIC_REQUESTS", "AUTOCOMMIT",
           "CONN_HEALTH_CHECKS", "DISABLE_SERVER_SIDE_CURSORS", "TIME_ZONE")
# Keys of a database of Django that are never names of one.
MISPLACED = ("OPTIONS", "CONN_MAX_AGE", "CONN_HEALTH_CHECKS", "ATOMIC_REQUESTS", "AUTOCOMMIT")
ADDRESS = re.compile(r"sqlite(\+\w+)?://")
SCHEMES = ("sqlite://", "sqlite+pysqlite://")
TRUE = ("true", "yes", "on", "y", "t", "1")
FLASK = "SQLALCHEMY_DATABASE_URI"
UNKNOWN = "\0"  # stands for what only the running program knows
UNCLEAR = "what its parameters do depends on one that only the running program knows"


class Module:
    """What the names of a module stand for."""

    def __init__(self, tree):
        self.tree = tree
        self.values, self.count, self.uses, self.engines, self.asyncs, self.packages = {}, {}, {}, set(), set(), set()
        for node in ast.walk(tree):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                self.uses[node.id] = self.uses.get(node.id, 0) + 1
            if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
                self.count[node.id] = self.count.get(node.id, 0) + 1
            elif isinstance(node, ast.arg):
                self.count[node.arg] = self.count.get(node.arg, 0) + 2
            elif isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] in ("sqlalchemy", "sqlmodel"):
                self.engines |= {a.asname or a.name for a in node.names if a.name == "create_engine"}
                self.asyncs |= {a.asname or a.name for a in node.names if a.name == "create_async_engine"}
            elif isinstance(node, ast.Import):
                self.packages |= {a.asname or a.name for a in node.names if a.name == "sqlalchemy"}
            if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
                self.values[node.targets[0].id] = node.value

    def text(self, node, depth=0):
        """The text of an expression, with UNKNOWN in it."""
        if isinstance(node, ast.Constant):
            return node.value if isinstance(node.value, str) else UNKNOWN
        if isinstance(node, ast.JoinedStr):
            return "".join(self.text(v, depth) for v in node.values)
        if isinstance(node, ast.FormattedValue) and node.conversion == -1 and node.format_spec is None:
            return self.text(node.value, depth)
        if depth < 8 and isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            return self.text(node.left, depth + 1) + self.text(node.right, depth + 1)
        if depth < 8 and isinstance(node, ast.Name) and self.count.get(node.id) == 1 and node.id in self.values:
            return self.text(self.values[node.id], depth + 1)
        return UNKNOWN

    def scalar(self, node):
        """The text of a constant in a configuration."""
        if isinstance(node, ast.Name) and self.count.get(node.id) == 1:
            node = self.values.get(node.id, node)
        try:
            value = ast.literal_eval(node)
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            return self.text(node)
        return str(value) if value is None or isinstance(value, (str, int, float)) else UNKNOWN

    def mapping(self, node):
        """The key, its node and the value of each pair of a mapping; None where they
        are not known. A variable may have one only where nobody else uses it."""
        if isinstance(node, ast.Name) and self.count.get(node.id) == 1 and self.uses.get(node.id) == 1:
            node = self.values.get(node.id)
        if isinstance(node, ast.Dict):
            return [(k.value if isinstance(k, ast.Constant) else None, k or v, v) for k, v in zip(node.keys, node.values)]
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "dict" and not node.args:
            return [(k.arg, k.value, k.value) for k in node.keywords]
        return None

    def is_entry(self, node):
        """Whether an expression is an entry of DATABASES, or a variable with a database."""
        if isinstance(node, ast.Subscript):
            return isinstance(node.value, ast.Name) and node.value.id == "DATABASES"
        value = self.values.get(node.id) if isinstance(node, ast.Name) else None
        return isinstance(value, (ast.Dict, ast.Call)) and any(key == "ENGINE" for key, _, _ in self.mapping(value) or [])

    def outside_tests(self):
        """All expressions but those that are compared with something, as tests do."""
        expected = {self.values.get(n.id) for node in ast.walk(self.tree) for n in compared(node) if isinstance(n, ast.Name)}
        nodes = [self.tree]
        while nodes:
            node = nodes.pop()
            if compared(node) or isinstance(node, ast.Assert) or node in expected:
                continue
            if isinstance(node, (ast.Dict, ast.Call)):
                yield node
            nodes.extend(reversed(list(ast.iter_child_nodes(node))))

    def makes_async_engine(self, function):
        return (isinstance(function, ast.Name) and function.id in self.asyncs
                or isinstance(function, ast.Attribute) and function.attr == "create_async_engine")

    def makes_engine(self, function):
        if isinstance(function, ast.Name):
            return function.id in self.engines
        return (isinstance(function, ast.Attribute) and function.attr == "create_engine"
                and isinstance(function.value, ast.Name) and function.value.id in self.packages)


def compared(node):
    """What an expression compares."""
    if isinstance(node, ast.Compare):
        return [node.left, *node.comparators]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr.startswith("assert"):
        return node.args
    return []


def prefixes(node):
    """What an address is looked at by, and is none."""
    called = getattr(node.func, "attr", getattr(node.func, "id", "")) if isinstance(node, ast.Call) else ""
    return node.args if called in ("startswith", "removeprefix", "replace", "split", "len") else []


def setting(library, place, key, value, node):
    known = UNKNOWN not in value
    return {"library": library, "place": place, "key": key, "value": value if known else "", "known": known,
            "line": node.lineno, "column": node.col_offset + 1}


def engines(module):
    """The engines of SQLAlchemy that may be for SQLite: the call, the settings, and why not all are seen."""
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Call) and module.makes_engine(node.func):
            yield (node, *engine(module, node))


def engine(module, call):
    named = {k.arg: k.value for k in call.keywords}
    address = call.args[0] if call.args else named.get("url")
    url = UNKNOWN if address is None else module.text(address)
    scheme = next((s for s in SCHEMES if url.startswith(s)), None)
    arguments = named.get("connect_args", ast.Dict([], []))
    if url.startswith(UNKNOWN):
        return None, "only the running program knows its address"
    if not scheme:
        return None, "no experiment is about its driver" if ADDRESS.match(url) else ""
    # With a creator nothing of the address counts; ** may bring anything.
    if None in named or "creator" in named:
        return None, "more arguments, or what opens its connections, come from elsewhere"
    if not isinstance(arguments, ast.Dict) or not all(isinstance(k, ast.Constant) for k in arguments.keys):
        return [], "what its connect_args have is not known"
    options = {str(k.value): v for k, v in zip(arguments.keys, arguments.values)}
    settings = [setting("sqlalchemy", "connect_args", key, module.scalar(value), value) for key, value in options.items()]
    path, asks, query = url[len(scheme):].partition("?")
    if path.lstrip("/").startswith(UNKNOWN):
        return settings, "whether its path begins with file: is not known" if asks else ""
    on_disk = path.strip("/") not in ("", ":memory:") and "uri" not in options
    if on_disk:
        settings += address_settings(path.lstrip("/"), query, address)
    return settings, UNCLEAR if on_disk and unclear(query) else ""


def unclear(query):
    """Whether some parameter is not known: with uri=true or mode=memory, others have another effect."""
    return any(UNKNOWN in p.partition("=")[0] for p in query.split("&"))


def parameters(query):
    """The parameters of an address on disk; none where some are not known."""
    values = {} if unclear(query) else {p.partition("=")[0]: p.partition("=")[2] for p in query.split("&") if p}
    return {} if values.get("mode") == "memory" else values


def address_settings(path, query, node):
    values = parameters(query)
    uri = values.pop("uri", "").lower()
    if UNKNOWN in uri:
        return
    place = "url"
    if path.startswith("file:"):
        place = "uri" if uri in TRUE else "file"
    elif uri in TRUE:
        return
    for key, value in values.items():
        yield setting("sqlalchemy", place, key, value, node)


def databases(module):
    """The settings of each of Django's databases of SQLite, unless statements change them."""
    if not changed(module):
        for _, pairs in entries(module):
            yield list(database(module, pairs))


def entries(module):
    """Django's databases of SQLite and their pairs: mappings with that ENGINE, whether
    DATABASES has them at once, or a variable does."""
    for node in module.outside_tests():
        pairs = module.mapping(node) or []
        values = {key: value for key, _, value in pairs}
        # What is merged in may be another engine.
        if None not in values and "ENGINE" in values and module.text(values["ENGINE"]) == ENGINE:
            yield node, pairs


def changed(module):
    return any(changes_engine(module, node) for node in ast.walk(module.tree))


def changes_engine(module, node):
    """Whether a statement may change which engine a database is for, or its options:
    DATABASES["default"]["ENGINE"] = ..., DATABASES["default"].update(...)."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("update", "pop", "clear"):
        return module.is_entry(node.func.value)
    return (isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load) and module.is_entry(node.value)
            and (not isinstance(node.slice, ast.Constant) or node.slice.value in ("ENGINE", "OPTIONS")))


def database(module, pairs):
    for key, node, value in pairs:
        if key == "NAME":
            yield from name_settings(module.text(value), node)
        if key in NEUTRAL or not isinstance(key, str):
            continue
        nested = module.mapping(value)
        if nested is None:
            if key != "OPTIONS":
                yield setting("django", "", key, module.scalar(value), node)
            continue
        for inner, at, what in nested:
            if isinstance(inner, str):
                yield setting("django", key, inner, module.scalar(what), at)


def name_settings(name, node):
    path, _, query = name.partition("?")
    if not path or path.startswith((UNKNOWN, ":")):
        return
    for key, value in parameters(query).items():
        yield setting("django", "NAME:file" if path.startswith("file:") else "NAME", key, value, node)


def among_aliases(module):
    """Keys of a database that stand beside its alias: {"default": {...}, "OPTIONS": {...}}."""
    for node in module.outside_tests():
        pairs = module.mapping(node) or []
        entries = [{k: v for k, _, v in module.mapping(value) or []} for _, _, value in pairs]
        if any("ENGINE" in e and module.text(e["ENGINE"]) == ENGINE for e in entries):
            yield [setting("django", "DATABASES", key, module.scalar(value), at) for key, at, value in pairs
                   if key in MISPLACED]
    for node in ast.walk(module.tree):  # DATABASES["OPTIONS"] = {...}
        at = node.targets[0] if isinstance(node, ast.Assign) else None
        if (isinstance(at, ast.Subscript) and isinstance(at.value, ast.Name) and at.value.id == "DATABASES"
                and isinstance(at.slice, ast.Constant) and at.slice.value in MISPLACED and any(True for _ in databases(module))):
            yield [setting("django", "DATABASES", at.slice.value, module.scalar(node.value), at)]


def note(node, library, what, why):
    return {"driver": library, "parameter": what, "reason": why, "line": node.lineno, "column": node.col_offset + 1}


def unjudged(module, made):
    """What is seen of SQLite and not followed."""
    guarded = any(isinstance(n, ast.Call) and isinstance(n.func, ast.Name) and n.func.id == "isinstance" and len(n.args) == 2
                  and "Connection" in ast.dump(n.args[1]) for n in ast.walk(module.tree))
    for node, _, why in made:
        if why:
            yield note(node, "sqlalchemy", "create_engine", why)
    found = list(entries(module))
    for node, pairs in found:
        if changed(module):
            yield note(node, "django", "DATABASES", "what changes it later is not known")
            continue
        for key, at, value in pairs:
            if key == "NAME" and unclear(module.text(value).partition("?")[2]):
                yield note(at, "django", "NAME", UNCLEAR)
            if key == "OPTIONS" and any(k is None for k, _, _ in module.mapping(value) or [(None, at, value)]):
                yield note(at, "django", "OPTIONS", "only the running program knows all of them")
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Call) and module.makes_async_engine(node.func):
            url = module.text(node.args[0]) if node.args else UNKNOWN
            if url.startswith(("sqlite", UNKNOWN)):
                why = "no experiment is about engines with aiosqlite"
                if guarded:
                    why += "; its connections are no sqlite3.Connection: a listener behind isinstance(..., sqlite3.Connection) never runs there"
                yield note(node, "sqlalchemy", "create_async_engine", why)
        elif isinstance(node, ast.Call) and "engine_from_config" in (getattr(node.func, "id", ""), getattr(node.func, "attr", "")):
            yield note(node, "sqlalchemy", "engine_from_config", "its mapping is not followed")
        elif isinstance(node, ast.Assign) and FLASK in (getattr(node.targets[0], "id", ""), getattr(getattr(node.targets[0], "slice", None), "value", "")):
            if module.text(node.value).startswith(("sqlite", UNKNOWN)):
                yield note(node, "flask-sqlalchemy", FLASK, "the engine that is made of it is not followed")
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id == "DATABASES":
            if not found:
                yield note(node, "django", "DATABASES", "which database it is, or what changes it later, is not known")


def read(name, text):
    module = Module(ast.parse(text, name))
    made = list(engines(module))
    found = [*(settings for _, settings, _ in made if settings is not None), *databases(module)]
    notes = list(unjudged(module, made))
    if not made and not found and not notes:
        only = {n for node in ast.walk(module.tree) for part in [*compared(node), *prefixes(node)] for n in ast.walk(part)}
        notes = [note(n, "", "an address of SQLite", "what opens it is not seen in this file")
                 for n in ast.walk(module.tree) if isinstance(n, ast.Constant) and n not in only and ADDRESS.match(str(n.value))]
    return {"settings": [*found, *among_aliases(module)], "databases": len(found), "unjudged": notes}


def main():
    warnings.simplefilter("ignore")  # about escapes in others' texts
    answers = []
    for name, text in json.load(sys.stdin):
        try:
            answers.append(read(name, text))
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            answers.append({"problem": f"it is not Python {sys.version_info.major}.{sys.version_info.minor}: {error}"})
    json.dump(answers, sys.stdout)


main()
