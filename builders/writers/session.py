"""Many questions to one model: kept answers first, the others side by side, each stored as it comes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING

from ... import DuplexkitError
from ..stopping import Stopped
from .answer_store import AnswerStore
from .dialect import Dialect
from .endpoint import Answer, Endpoint, Question, ask, open_client
from .spending import Budget, Spending, added, require_room

if TYPE_CHECKING:
    import openai


class Session:
    """An endpoint, its kept answers and what was spent. Open while a job runs.

    Parameters
    ----------
    endpoint : Endpoint
    store : AnswerStore
    budget : Budget
    n_workers : int
        Questions that may be under way at once.
    tell : callable
        Called with a line for the user: the JSON mode found.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        store: AnswerStore,
        *,
        budget: Budget,
        n_workers: int,
        tell: Callable[[str], None],
    ) -> None:
        self.endpoint = endpoint
        self.spending = Spending()
        self._store = store
        self._budget = budget
        self._n_workers = n_workers
        self._tell = tell
        self._dialect = store.dialect()
        self._counted: set[str] = set()
        self._client: openai.OpenAI | None = None

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._client is not None:
            self._client.close()

    @property
    def dialect(self) -> Dialect:
        """Return the dialect in use."""
        return self._dialect

    def ask_all(self, questions: Sequence[Question]) -> list[Answer]:
        """Return the answers in the order of the questions.

        When one fails, or the budget is reached, no more are started; those under way are waited for and
        kept, and then the error is raised.

        Raises
        ------
        EndpointError
            If the endpoint refuses or fails.
        BudgetReached
            If one more question could pass a limit.
        """
        keys = [question.key(self.endpoint) for question in questions]
        for key in dict.fromkeys(keys):
            kept = self._store.get(key)
            if kept is not None:
                self._count(key, kept, from_store=True)
        missing = {
            key: question
            for key, question in zip(keys, questions, strict=True)
            if self._store.get(key) is None
        }
        todo = list(missing.items())
        if todo and not self._dialect.is_known:
            self._run(todo[:1], n_workers=1)
            todo = todo[1:]
            self._tell(_mode_line(self.endpoint, self._dialect))
        self._run(todo, n_workers=self._n_workers)
        return self.kept(questions)

    def kept(self, questions: Sequence[Question]) -> list[Answer]:
        """Return the answers that are there already, in the order of the questions."""
        answers = [self._store.get(question.key(self.endpoint)) for question in questions]
        return [answer for answer in answers if answer is not None]

    def _run(self, todo: Sequence[tuple[str, Question]], *, n_workers: int) -> None:
        """Ask and keep; raise the first failure after everything under way has come back."""
        waiting = list(todo)
        under_way: dict[Future[Answer], str] = {}
        failure: DuplexkitError | None = None
        if waiting and self._client is None:
            self._client = open_client(self.endpoint)
        with ThreadPoolExecutor(max_workers=n_workers) as pool, self._saying_goodbye(under_way):
            while (waiting and failure is None) or under_way:
                while waiting and failure is None and len(under_way) < n_workers:
                    try:
                        require_room(self._budget, self.spending, n_under_way=len(under_way))
                    except DuplexkitError as error:
                        failure = error
                        break
                    key, question = waiting.pop(0)
                    under_way[pool.submit(self._one, self._client, key, question)] = key
                if not under_way:
                    break
                done, _ = wait(under_way, return_when=FIRST_COMPLETED)
                for future in done:
                    key = under_way.pop(future)
                    try:
                        answer = future.result()
                    except DuplexkitError as error:
                        failure = failure or error
                        continue
                    self._dialect = answer.dialect
                    self._count(key, answer, from_store=False)
        if failure is not None:
            raise failure

    @contextmanager
    def _saying_goodbye(self, under_way: Collection[object]) -> Iterator[None]:
        """Say what a stopped session waits for: answers under way are paid for."""
        try:
            yield
        except Stopped:
            self._tell(
                f"stopping: waiting for {len(under_way)} answers under way; a second Ctrl-C ends at once"
            )
            raise

    def _one(self, client: openai.OpenAI | None, key: str, question: Question) -> Answer:
        """Ask and keep, in the worker's thread: an interrupted run keeps what was under way."""
        assert client is not None
        answer = ask(client, self.endpoint, question, self._dialect)
        self._store.put(key, answer)
        return answer

    def _count(self, key: str, answer: Answer, *, from_store: bool) -> None:
        if key not in self._counted:
            self._counted.add(key)
            self.spending = added(self.spending, answer, from_store=from_store)


def _mode_line(endpoint: Endpoint, dialect: Dialect) -> str:
    meaning = {
        "json_schema": "it takes the JSON schema of the answer",
        "json_object": "it promises JSON, but takes no schema",
        "text": "it promises no JSON; the schema stands in the prompt",
    }[dialect.json_mode]
    return f"{endpoint.host}, {endpoint.model}: JSON mode {dialect.json_mode} ({meaning})"
