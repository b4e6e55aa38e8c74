"""Where the studies of Optuna are kept in these tests."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

POSTGRES = os.environ.get("BORING_TEST_POSTGRES")
"""URL of a PostgreSQL database for tests, such as
postgresql+psycopg://user:password@localhost/test."""

_opened: list[Any] = []
"""Databases whose connections are to be closed when the test is over."""


@pytest.fixture
def quiet_optuna():
    """Let Optuna log errors alone."""
    import optuna

    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    yield
    optuna.logging.set_verbosity(before)


def open_storage(address: str, **options: Any) -> Any:
    """Return the storage of an address: the path of a journal, or the URL of a database."""
    import optuna

    if "://" in address:
        storage = optuna.storages.RDBStorage(address, **options)
        _opened.append(storage)
        return storage
    from optuna.storages.journal import JournalFileBackend

    return optuna.storages.JournalStorage(JournalFileBackend(address), **options)


@contextmanager
def _schema_of_its_own() -> Iterator[str]:
    """Create a schema in the database of `POSTGRES`; drop it, and all in it, at the end."""
    if POSTGRES is None:
        pytest.skip("BORING_TEST_POSTGRES is not set: it holds the URL of a PostgreSQL database")
    import sqlalchemy

    name = f"boring_{uuid4().hex}"
    engine = sqlalchemy.create_engine(POSTGRES)
    with engine.begin() as connection:
        connection.execute(sqlalchemy.text(f"CREATE SCHEMA {name}"))
    try:
        url = engine.url.update_query_dict({"options": f"-csearch_path={name}"})
        yield url.render_as_string(hide_password=False)
    finally:
        with engine.begin() as connection:
            connection.execute(sqlalchemy.text(f"DROP SCHEMA {name} CASCADE"))
        engine.dispose()


@contextmanager
def _address_of(kind: str, folder: Path) -> Iterator[str]:
    if kind == "postgres":
        with _schema_of_its_own() as url, _connections_closed():
            yield url
    elif kind == "sqlite":
        with _connections_closed():
            yield f"sqlite:///{folder}/study.db"
    else:
        yield str(folder / "journal.log")


@contextmanager
def _connections_closed() -> Iterator[None]:
    try:
        yield
    finally:
        while _opened:
            _opened.pop().engine.dispose()


@pytest.fixture(params=["sqlite", "postgres"])
def database(request: Any, tmp_path: Path) -> Iterator[str]:
    """Return the URL of an empty database, which other processes may open."""
    with _address_of(request.param, tmp_path) as address:
        yield address


@pytest.fixture(params=["sqlite", "journal", "postgres"])
def address(request: Any, tmp_path: Path) -> Iterator[str]:
    """Return the address of an empty storage, which other processes may open."""
    with _address_of(request.param, tmp_path) as found:
        yield found


@pytest.fixture(params=["memory", "sqlite", "journal", "postgres"])
def storage(request: Any, tmp_path: Path) -> Iterator[Callable[[], Any]]:
    """Return a function that opens the storage anew, as another process would."""
    if request.param == "memory":
        import optuna

        memory = optuna.storages.InMemoryStorage()
        yield lambda: memory
    else:
        with _address_of(request.param, tmp_path) as found:
            yield lambda: open_storage(found)
