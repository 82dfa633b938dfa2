"""The store: the only module that speaks SQL. One process writes it; anyone may read it meanwhile.

SQLite in WAL mode in the run's folder by default. Writers hand rows over and wait until they are committed: rows of
many tasks share one transaction, so that durability costs one commit for a whole batch and not one for each call.
A killed process loses nothing that was committed.
"""

from __future__ import annotations

import asyncio
import os
import time
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from edufair.errors import StoreError
from edufair.records import Arm, Item, Record, Score, Source, Trial, Turn

if TYPE_CHECKING:
    import polars as pl

FILE_NAME = "edufair.db"
LOCK_NAME = "writer.lock"

metadata = sa.MetaData()

meta = sa.Table(
    "meta",
    metadata,
    sa.Column("key", sa.Text, primary_key=True),
    sa.Column("value", sa.Text, nullable=False),
)
plan = sa.Table(
    "plan",
    metadata,
    sa.Column("hash", sa.Text, primary_key=True),
    sa.Column("position", sa.Integer, nullable=False),
    sa.Column("created", sa.Float, nullable=False),
    sa.Column("version", sa.Text, nullable=False),
    sa.Column("json", sa.Text, nullable=False),
)
item = sa.Table(
    "item",
    metadata,
    sa.Column("hash", sa.Text, primary_key=True),
    sa.Column("json", sa.Text, nullable=False),
)
record = sa.Table(
    "record",
    metadata,
    sa.Column("trial", sa.Text, primary_key=True),
    sa.Column("audit", sa.Text, nullable=False),
    sa.Column("model", sa.Text, nullable=False),
    sa.Column("item", sa.Text, nullable=False),
    sa.Column("item_hash", sa.Text, nullable=False),
    sa.Column("domain", sa.Text, nullable=False),
    sa.Column("condition", sa.Text, nullable=False),
    sa.Column("arm", sa.Text, nullable=False),
    sa.Column("replicate", sa.Integer, nullable=False),
    sa.Column("status", sa.Text, nullable=False),
    sa.Column("reason", sa.Text, nullable=False),
    sa.Column("json", sa.Text, nullable=False),
    sa.Column("calls", sa.Text, nullable=False),
    sa.Column("created", sa.Float, nullable=False),
)
call = sa.Table(
    "call",
    metadata,
    sa.Column("key", sa.Text, primary_key=True),
    sa.Column("attempt", sa.Integer, primary_key=True),
    sa.Column("role", sa.Text, nullable=False),
    sa.Column("model", sa.Text, nullable=False),
    sa.Column("effective", sa.Text, nullable=False),
    sa.Column("request", sa.LargeBinary, nullable=False),
    sa.Column("status", sa.Text, nullable=False),
    sa.Column("returned_model", sa.Text, nullable=False),
    sa.Column("text", sa.Text, nullable=False),
    sa.Column("reasoning", sa.Text, nullable=False),
    sa.Column("finish_reason", sa.Text, nullable=False),
    sa.Column("prompt_tokens", sa.Integer),
    sa.Column("cached_tokens", sa.Integer),
    sa.Column("completion_tokens", sa.Integer),
    sa.Column("latency", sa.Float, nullable=False),
    sa.Column("created", sa.Float, nullable=False),
)
effective = sa.Table(
    "effective",
    metadata,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("role", sa.Text, nullable=False),
    sa.Column("model", sa.Text, nullable=False),
    sa.Column("json", sa.Text, nullable=False),
)
source = sa.Table(
    "source",
    metadata,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("settings", sa.Text, nullable=False),
)
score = sa.Table(
    "score",
    metadata,
    sa.Column("trial", sa.Text, primary_key=True),
    sa.Column("turn", sa.Integer, primary_key=True),
    sa.Column("metric", sa.Text, primary_key=True),
    sa.Column("source", sa.Text, primary_key=True),
    sa.Column("value", sa.Float),
    sa.Column("reason", sa.Text, nullable=False),
    sqlite_with_rowid=False,
)
vector = sa.Table(
    "vector",
    metadata,
    sa.Column("trial", sa.Text, primary_key=True),
    sa.Column("source", sa.Text, primary_key=True),
    sa.Column("part", sa.Text, primary_key=True),
    sa.Column("value", sa.LargeBinary, nullable=False),
)
pair = sa.Table(
    "pair",
    metadata,
    sa.Column("contrast", sa.Text, primary_key=True),
    sa.Column("item", sa.Text, primary_key=True),
    sa.Column("metric", sa.Text, primary_key=True),
    sa.Column("source", sa.Text, primary_key=True),
    sa.Column("a", sa.Float, nullable=False),
    sa.Column("b", sa.Float, nullable=False),
    sa.Column("d", sa.Float, nullable=False),
    sa.Column("size", sa.Float, nullable=False),
    sa.Column("trial_a", sa.Text, nullable=False),
    sa.Column("trial_b", sa.Text, nullable=False),
)
sa.Index("pair_by_size", pair.c.size)

Row = dict[str, Any]

#: A table, whole rows of it, and whether they replace rows with the same key.
Write = tuple[sa.Table, Sequence[Row], bool]

#: Seconds for which a transaction gathers rows before it is committed: nothing beside a model's reply, and far fewer
#: transactions when hundreds of calls end in a second.
GATHER = 0.005

#: Changes to the tables above, one function each, applied in order to stores made by earlier versions.
MIGRATIONS: tuple[Any, ...] = ()


_FAILED: sa.ColumnElement[str] = sa.literal_column("'failed'")


class Store:
    """A run's store. Make one with `create` or `open_store`; close it when done."""

    def __init__(self, folder: Path, engine: sa.Engine, *, writable: bool, lock: Any = None) -> None:
        self.folder = folder
        self._engine = engine
        self._lock = lock
        # Autocommit: every look-up sees what has been committed by then, never an old snapshot.
        self._reader = engine.connect().execution_options(isolation_level="AUTOCOMMIT")
        wanted = call.c.key == sa.bindparam("k")
        self._lookup = _sql(sa.select(call).where(wanted, call.c.status != _FAILED), engine)
        self._count = _sql(sa.select(sa.func.max(call.c.attempt)).where(wanted), engine)
        self._inserts: dict[tuple[str, bool], str] = {}
        self._pending: list[tuple[Sequence[Write], asyncio.Future[None]]] = []
        self._flusher: asyncio.Task[None] | None = None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="store") if writable else None

    # Writing

    async def write(self, table: sa.Table, rows: Sequence[Row], *, replace: bool = False) -> None:
        """Return when the rows are committed. A row whose key exists is kept as it is, or replaced on request."""
        if rows:
            await self.write_all([(table, rows, replace)])

    async def write_all(self, writes: Sequence[Write]) -> None:
        """Several writes in one transaction: all of them are there afterwards, or none."""
        committed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._pending.append((writes, committed))
        if self._flusher is None:
            self._flusher = asyncio.create_task(self._flush())
        await committed

    async def _flush(self) -> None:
        """Commit whatever is pending until nothing is; tasks that come meanwhile share the next transaction."""
        loop = asyncio.get_running_loop()
        while self._pending:
            await asyncio.sleep(GATHER)
            batch, self._pending = self._pending, []
            failure = None
            try:
                await loop.run_in_executor(self._thread, self._apply, [w for writes, _ in batch for w in writes])
            except Exception as error:
                failure = StoreError(f"{self.folder / FILE_NAME}: cannot be written: {error}")
            for _, committed in batch:
                if committed.done():  # the task that waited was cancelled; its rows are kept all the same
                    continue
                if failure is None:
                    committed.set_result(None)
                else:
                    committed.set_exception(failure)
        self._flusher = None

    async def drain(self) -> None:
        """Return when nothing is waiting to be committed."""
        while self._flusher is not None:
            await asyncio.shield(self._flusher)

    def write_now(self, table: sa.Table, rows: Sequence[Row], *, replace: bool = False) -> None:
        """As `write`, for the verbs that run without an event loop."""
        if rows:
            self._apply([(table, rows, replace)])

    def clear(self, table: sa.Table) -> None:
        with self._engine.begin() as connection:
            connection.execute(sa.delete(table))

    def _apply(self, batch: Sequence[Write]) -> None:
        grouped: dict[tuple[sa.Table, bool], list[Row]] = {}
        for table, rows, replace in batch:
            grouped.setdefault((table, replace), []).extend(rows)
        with self._engine.begin() as connection:
            for (table, replace), rows in grouped.items():
                connection.exec_driver_sql(self._insert(table, replace), rows)

    def _insert(self, table: sa.Table, replace: bool) -> str:
        """The statement for whole rows, compiled once: it is half the cost of a small transaction otherwise."""
        if (table.name, replace) not in self._inserts:
            dialect = postgresql if self._engine.dialect.name == "postgresql" else sqlite
            statement = dialect.insert(table)
            keys = [column.name for column in table.primary_key]
            values = {c.name: statement.excluded[c.name] for c in table.columns if c.name not in keys}
            kept = statement.on_conflict_do_nothing()
            chosen = statement.on_conflict_do_update(index_elements=keys, set_=values) if replace else kept
            self._inserts[table.name, replace] = _sql(chosen, self._engine)
        return self._inserts[table.name, replace]

    # Reading

    def find_call(self, key: str) -> Row | None:
        """The finished call with this request key, if there is one."""
        row = self._one(self._lookup, key)
        return dict(zip(call.columns.keys(), row, strict=True)) if row else None

    def attempts(self, key: str) -> int:
        """How many tries of this request the store knows."""
        return int(self._one(self._count, key)[0] or 0)

    def _one(self, sql: str, key: str) -> Any:
        """The row of a look-up that is made for every call: straight to the driver, which is six times as fast."""
        cursor = self._reader.connection.cursor()
        cursor.execute(sql, {"k": key})
        row = cursor.fetchone()
        cursor.close()
        return row

    def has_calls(self) -> bool:
        return self._reader.execute(sa.select(call.c.key).limit(1)).first() is not None

    def statuses(self, trials: Sequence[str]) -> dict[str, tuple[str, str]]:
        """Status and reason of those of the trials that have a record."""
        query = sa.select(record.c.trial, record.c.status, record.c.reason).where(record.c.trial.in_(trials))
        return {trial: (status, reason) for trial, status, reason in self._reader.execute(query)}

    def all_statuses(self) -> dict[str, tuple[str, str]]:
        query = sa.select(record.c.trial, record.c.status, record.c.reason)
        return {trial: (status, reason) for trial, status, reason in self._reader.execute(query)}

    def record_ids(self, audit: str) -> list[str]:
        """The trials of an audit whose record is done, in the order in which they were committed."""
        query = sa.select(record.c.trial).where(record.c.audit == audit, record.c.status == "done")
        return list(self._reader.execute(query.order_by(record.c.created, record.c.trial)).scalars())

    def scored(self, trials: Sequence[str], source_id: str) -> set[str]:
        """Those of the trials that have any score from this source."""
        query = sa.select(score.c.trial).where(score.c.trial.in_(trials), score.c.source == source_id).distinct()
        return set(self._reader.execute(query).scalars())

    def scored_by(self) -> dict[str, int]:
        counted = sa.select(score.c.source, sa.func.count(sa.distinct(score.c.trial))).group_by(score.c.source)
        return {name: int(n) for name, n in self._reader.execute(counted)}

    def get_meta(self, key: str) -> Any:
        value = self._reader.execute(sa.select(meta.c.value).where(meta.c.key == key)).scalar()
        return None if value is None else orjson.loads(value)

    def set_meta(self, key: str, value: Any) -> None:
        self.write_now(meta, [{"key": key, "value": orjson.dumps(value).decode()}], replace=True)

    def plans(self) -> list[Row]:
        """The plans of this run in the order in which they were frozen; `json` is parsed."""
        rows = self._reader.execute(sa.select(plan).order_by(plan.c.position)).mappings()
        return [{**row, "json": orjson.loads(row["json"])} for row in rows]

    def items(self, hashes: Iterable[str]) -> Iterator[tuple[str, Item]]:
        """Items by hash, in the order asked for, read in blocks so that a large bank never stands in memory."""
        block: list[str] = []
        for item_hash in hashes:
            block.append(item_hash)
            if len(block) == 500:
                yield from self._item_block(block)
                block = []
        yield from self._item_block(block)

    def _item_block(self, hashes: Sequence[str]) -> Iterator[tuple[str, Item]]:
        found = dict(self._reader.execute(sa.select(item.c.hash, item.c.json).where(item.c.hash.in_(hashes))).all())
        for item_hash in hashes:
            yield item_hash, Item.from_json(orjson.loads(found[item_hash]))

    def effectives(self) -> list[Row]:
        rows = self._reader.execute(sa.select(effective).order_by(effective.c.role, effective.c.model)).mappings()
        return [{**row, "json": orjson.loads(row["json"])} for row in rows]

    def sources(self) -> list[Source]:
        rows = self._reader.execute(sa.select(source).order_by(source.c.kind, source.c.id))
        return [Source(r.id, r.kind, r.name, orjson.loads(r.settings)) for r in rows]

    def records(self, *, audit: str | None = None, trials: Sequence[str] | None = None) -> Iterator[Record]:
        """Stored records with their trials, streamed; all, or those of some trials."""
        query = sa.select(record, item.c.json.label("item_json")).join(item, item.c.hash == record.c.item_hash)
        if audit is not None:
            query = query.where(record.c.audit == audit)
        if trials is not None:
            query = query.where(record.c.trial.in_(trials))
        with self._engine.connect() as connection:
            for row in connection.execution_options(yield_per=200).execute(query):
                yield _record_from(row)

    def record_frame(self) -> pl.DataFrame:
        """One row a record, without its texts."""
        columns = [c for c in record.columns if c.name not in ("json", "calls", "item_hash")]
        return self._frame(sa.select(*columns))

    def score_frame(self) -> pl.DataFrame:
        """One tidy row a score: trial, turn, metric, source, value, reason."""
        return self._frame(sa.select(score))

    def vector_frame(self) -> pl.DataFrame:
        return self._frame(sa.select(vector))

    def pair_frame(self) -> pl.DataFrame:
        return self._frame(sa.select(pair))

    def call_frame(self) -> pl.DataFrame:
        """One row a call, without its texts."""
        left_out = ("request", "text", "reasoning")
        return self._frame(sa.select(*[c for c in call.columns if c.name not in left_out]))

    def _frame(self, query: sa.Select[Any]) -> pl.DataFrame:
        import polars as pl

        types: dict[type, Any] = {str: pl.String, int: pl.Int64, float: pl.Float64, bytes: pl.Binary}
        schema = {c.name: types[c.type.python_type] for c in query.selected_columns}
        with self._engine.connect() as connection:
            sql = query.compile(dialect=self._engine.dialect)
            rows = connection.exec_driver_sql(str(sql)).cursor
            assert rows is not None
            return pl.DataFrame(rows.fetchall(), schema=schema, orient="row")

    def close(self) -> None:
        if self._thread is not None:
            self._thread.shutdown(wait=True)
        self._reader.close()
        self._engine.dispose()
        if self._lock is not None:
            self._lock.close()


def create(folder: Path | str) -> Store:
    """The store of a run folder, for writing; made where there is none.

    Raises StoreError when the folder cannot be made or when another process is writing there.
    """
    folder = Path(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = _lock(folder)
    except OSError as error:
        raise StoreError(f"{folder}: cannot be used as a run folder: {error.strerror}") from None
    engine = _engine(folder / FILE_NAME)
    try:
        metadata.create_all(engine)
        store = Store(folder, engine, writable=True, lock=lock)
        _migrate(store)
    except sa.exc.DatabaseError as error:
        lock.close()
        raise StoreError(f"{folder / FILE_NAME}: is not a store of this program: {error.orig}") from None
    return store


def open_store(folder: Path | str) -> Store:
    """The store of an existing run, for reading. Raises StoreError when there is none."""
    folder = Path(folder)
    path = folder / FILE_NAME
    if not path.is_file():
        raise StoreError(f"{folder}: holds no run; `edufair run audit.toml` makes one")
    engine = _engine(path)
    try:
        store = Store(folder, engine, writable=False)
        version = store.get_meta("schema")
    except sa.exc.DatabaseError as error:
        raise StoreError(f"{path}: is not a store of this program: {error.orig}") from None
    if version is None or version > len(MIGRATIONS):
        store.close()
        raise StoreError(f"{path}: was made by a newer version of edufair; upgrade to read it")
    return store


def _engine(path: Path) -> sa.Engine:
    connect_args = {"timeout": 30, "check_same_thread": False}
    # Named parameters: rows are mappings, for compiled statements as well.
    engine = sa.create_engine(f"sqlite:///{path}", connect_args=connect_args, paramstyle="named")

    @sa.event.listens_for(engine, "connect")
    def _tune(connection: Any, _: Any) -> None:
        connection.execute("PRAGMA journal_mode=WAL")
        # In WAL mode NORMAL survives any kill of the process; a power cut can lose the last commits, no more.
        connection.execute("PRAGMA synchronous=NORMAL")
        connection.execute("PRAGMA cache_size=-16000")

    return engine


def _sql(statement: sa.ClauseElement, engine: sa.Engine) -> str:
    return str(statement.compile(dialect=engine.dialect))


def _lock(folder: Path) -> Any:
    """Hold the folder for writing until closed; a killed process lets go by itself."""
    handle = open(folder / LOCK_NAME, "a")  # noqa: SIM115
    try:
        if os.name == "posix":
            import fcntl

            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        else:  # pragma: no cover
            import msvcrt

            msvcrt.locking(handle.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
    except OSError:
        handle.close()
        raise StoreError(f"{folder}: another process is writing this run; wait for it, or stop it first") from None
    return handle


def _migrate(store: Store) -> None:
    """Bring an older store up to date. One that was just made has the present tables already."""
    version = store.get_meta("schema")
    if version is None:
        store.set_meta("schema", len(MIGRATIONS))
        return
    for number, step in enumerate(MIGRATIONS[version:], start=version + 1):
        step(store)
        store.set_meta("schema", number)


# Rows from records and back


def packed(request: Mapping[str, Any]) -> bytes:
    """A request as the call table holds it. The calls of a dialogue repeat each other: under a third of the size."""
    return zlib.compress(orjson.dumps(request), 1)


def unpacked(request: bytes) -> dict[str, Any]:
    """The request in a row of the call table."""
    return orjson.loads(zlib.decompress(request))  # type: ignore[no-any-return]


def item_row(item_hash: str, content: Item) -> Row:
    return {"hash": item_hash, "json": orjson.dumps(content.to_json()).decode()}


def record_row(produced: Record, item_hash: str, calls: Sequence[str]) -> Row:
    trial = produced.trial
    body = {
        "arm": trial.arm.to_json(),
        "turns": [turn.to_json() for turn in produced.turns],
        "data": dict(produced.data),
    }
    return {
        "trial": trial.id,
        "audit": trial.audit,
        "model": trial.model,
        "item": trial.item.id,
        "item_hash": item_hash,
        "domain": trial.item.domain,
        "condition": trial.arm.condition,
        "arm": trial.arm.label,
        "replicate": trial.replicate,
        "status": produced.status,
        "reason": produced.reason,
        "json": orjson.dumps(body).decode(),
        "calls": orjson.dumps(list(calls)).decode(),
        "created": time.time(),
    }


def score_row(measured: Score) -> Row:
    return {
        "trial": measured.trial,
        "turn": measured.turn,
        "metric": measured.metric,
        "source": measured.source,
        "value": measured.value,
        "reason": measured.reason,
    }


def source_row(measuring: Source) -> Row:
    return {
        "id": measuring.id,
        "kind": measuring.kind,
        "name": measuring.name,
        "settings": orjson.dumps(dict(measuring.settings), option=orjson.OPT_SORT_KEYS).decode(),
    }


def _record_from(row: Any) -> Record:
    body: Mapping[str, Any] = orjson.loads(row.json)
    trial = Trial(
        row.trial,
        row.audit,
        row.model,
        Item.from_json(orjson.loads(row.item_json)),
        Arm.from_json(body["arm"]),
        row.replicate,
    )
    return Record(trial, row.status, row.reason, tuple(Turn(**turn) for turn in body["turns"]), body["data"])
