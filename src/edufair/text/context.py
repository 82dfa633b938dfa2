"""What stands around an answer in a sentence: label, operand, denial, given data or result."""

from __future__ import annotations

import re

from edufair.text.sentences import Sentence, stated

_NUM = r"(?:\d[\d.,/]*%?)"
_UNIT_WORDS = r"(?:[A-Za-z°][A-Za-z°/]*\s+){0,2}"
_TIMES_WORD = r"(?:plus|minus|times|multiplied\s+by|divided?\s+by|over)"
_OPERAND_AFTER = re.compile(  # what ends right before an operand
    rf"(?:[+*/×÷^]\s*\(?\s*"
    rf"|(?:\d[\d.,]*|\))\s*%?\s*{_UNIT_WORDS}-\s*\(?\s*|\b[a-z]\s*-\s*\(?"
    rf"|\b{_TIMES_WORD}\s+(?:the\s+|another\s+)?"
    rf"|\b(?:add|adding|added|subtract|subtracting|subtracted|deduct|multiply|multiplying|divide|dividing|remove|take\s+away)"
    rf"\s+(?:up\s+|the\s+|another\s+|these\s+|those\s+)?"
    rf"|(?:\b(?:divid|multipl|split|increment)\w*|\d)\s+(?:[^\s.;=]+\s+){{0,4}}by\s+(?:the\s+)?"
    rf"|\b(?:add|adding|added|adds|sum\s+of|product\s+of|difference\s+between)\s+[^.;=]{{1,40}}\b(?:and|to)\s+(?:the\s+)?"
    rf"|\b(?:subtract|take|taking|took|deduct)\w*\s+[^.;=]{{1,40}}\bfrom\s+(?:the\s+)?"
    rf"|(?:{_NUM}|\b(?:percent|half|halves|thirds?|quarters?|fifths?))\s+of\s+(?:the\s+)?)$",
    re.IGNORECASE,
)
_OPERAND_BEFORE = re.compile(  # what begins right after an operand
    rf"\s*\)?\s*{_UNIT_WORDS}(?:[+*×÷^]\s*[\w(.]|/\s*[\d(.]|-\s*\(?[\d.]|{_TIMES_WORD}\b|divide\b|(?:added|subtracted)\b)"
    r"|\s*%?\s*of\s+(?:the\s+)?\d",
    re.IGNORECASE,
)
_LABEL = re.compile(
    r"\b(?:steps?|questions?|problems?|parts?|hints?|equations?|eq\.?|examples?|figures?|fig\.?|tables?|chapters?|sections?"
    r"|pages?|lines?|exercises?|options?|items?|grades?|stages?|phases?|no\.)\s*#?\s*(?:\d+\s*(?:and|to|-|&|,)\s*)?$|#\s*$",
    re.IGNORECASE,
)
_LIST_BEFORE = re.compile(r"(?:^|\n)[ \t>*_#(+-]*$")
_LIST_AFTER = re.compile(r"[.)\]]\s+\S|\)\s*\S")
_DENIED_BEFORE = re.compile(
    r"(?:\bnot|n't|\bnever|\binstead\s+of|\brather\s+than|\bisnt)\s+(?!only|just)(?:\w+\s+)?(?:equal\s+to\s+|the\s+|an?\s+)?$",
    re.IGNORECASE,
)
_DENIED_AFTER = re.compile(
    r"\s*(?:\w+\s+)?(?:(?:is|was|are)\s+(?:not|never|incorrect|wrong)|(?:isn't|wasn't|aren't))"
    r"(?:\s+(?:quite|yet|the|right|correct|answer)|\W|$)",
    re.IGNORECASE,
)
# A letter that stands for a number: not a unit ("20 m / 2 s", "m/s"), not a word.
_COEFFICIENT = r"(?<=\d)[abknpqrtxyz](?!\w)"
_UNKNOWN = rf"(?:(?<![\w.])(?<!\d\s)(?<![A-Za-z][/*])[a-zB-HJ-Z](?![\w'])|{_COEFFICIENT})"
_UNKNOWN_BEFORE_EQUALS = re.compile(  # "x + 5 = ", "2x = ", "(0.3x)(1/3) = "
    rf"(?:{_UNKNOWN}\s*\)?\s*[-+*/×÷^(]|[-+*/×÷^(]\s*{_UNKNOWN}|{_COEFFICIENT})[\w\s()+*/×÷^.-]{{0,40}}=\s*$"
)
_UNKNOWN_AFTER_EQUALS = re.compile(
    rf"\s*=\s*[\w\s()*/×÷^.+-]{{0,40}}?(?:{_UNKNOWN}\s*\)?\s*[-+*/×÷^]|[-+*/×÷^(]\s*{_UNKNOWN}|{_COEFFICIENT})"
)
_INSTRUCTION = re.compile(
    r"[\s\"'*_(]*(?:(?:ok|okay|so|and|but|now|then|next|first|well|yes|no|right|great|good|please|to|start|\w+,)\b[\s,.!:-]*){0,4}"
    r"(?:think|try|consider|imagine|suppose|let's|lets|let\s+us|look|compare|check|explain|tell|describe|calculate|find|work"
    r"|use|add|subtract|multiply|divide|take|go|read|write|draw|count|start|show|see|focus|break)\b",
    re.IGNORECASE,
)
_ECHO_BEFORE = re.compile(  # "You said 6": the student's word, not the tutor's
    r"\byou(?:'ve|\s+have|\s+had)?\s+(?:just\s+|already\s+|also\s+)?(?:said|say|wrote|write|stated|mentioned|answered|told|assumed"
    r"|guessed)\b[^.;!?]*$",
    re.IGNORECASE,
)
_RESULT_BEFORE = re.compile(
    rf"(?:=\s*\(?"
    rf"|(?:\b(?:that|which|this|it|together|altogether)\s+|{_NUM}\s+|,\s*)(?:will\s+|would\s+)?(?:gives?|makes?|leaves?)(?:\s+[a-z]+)?\s+"
    rf"|\b(?:equals|equal\s+to|making|leaving(?:\s+\w+)?|comes?\s+(?:out\s+)?to"
    rf"|adds?\s+up\s+to|totals?\s+to|you\s+get|we\s+get|results?\s+in|ends?\s+up\s+with)\s+"
    rf"|\b(?:answer|result|solution|sum|difference|product|quotient|final\s+\w+)\b(?:\s+[^\s.;=]+){{0,5}}?\s*(?:is|was|be|of|:)\s*(?:[a-z]+\s+){{0,1}}"
    rf"|{_NUM}\s*(?:[-+*/×÷]|{_TIMES_WORD}|x)\s*{_NUM}\s*{_UNIT_WORDS}(?:is|are|was|makes|means)\s+"
    rf"|\b(?:it|that|this|which|they|these)(?:\s+(?:is|are|was|would\s+be|must\s+be)|'s)\s+(?:called\s+|indeed\s+|just\s+)?(?:the\s+|an?\s+)?"
    rf"|\b(?:called|named|known\s+as|termed|therefore|hence|thus)\s+(?:the\s+|an?\s+)?)\"?$",
    re.IGNORECASE,
)
_RESULT_AFTER = re.compile(
    r"\W*(?:[^\W\d]+\s+)?(?:is|was)\s+(?:\w+\s+)?(?:the\s+|your\s+|our\s+|my\s+)?(?:\w+\s+)?(?:answer|result|solution|correct|right)\b",
    re.IGNORECASE,
)
_CONCLUDES = re.compile(r"\b(?:so|therefore|thus|hence|means|must(?:\s+have)?|leaves)\b", re.IGNORECASE)
_LIGHT = re.compile(
    r"[\s\W]*(?:(?:yes|no|so|right|correct|exactly|great|good|it'?s|it\s+is|its|that'?s|that\s+is|yep|ok|okay|answer|the|an?|perfect"
    r"|well\s+done|think|i|maybe|is|be|would|got)\b[\s\W]*)*",
    re.IGNORECASE,
)
_CLAUSE_ENDS = re.compile(r"\s*(?:$|[.,!;:?)\"']|(?:left|in\s+total|altogether)\b)")
_LIGHT_AFTER = re.compile(r"[\s\W]*(?:[^\W\d]+[\s\W]*){0,2}")


class Hit:
    """An occurrence of the answer, with what stands around it."""

    def __init__(self, sentence: Sentence, text: str, span: tuple[int, int], *, weak: bool, given: bool) -> None:
        self._sentence, self._text, self._weak, self._given = sentence, text, weak, given
        self._start, self._end = span
        self._left = text[max(sentence.start, self._start - 90) : self._start]
        self._right = text[self._end : min(sentence.end, self._end + 90)]

    def stands(self) -> bool:
        """Not a list or step number, not an operand, not one side of an equation in an unknown, not denied."""
        return not (
            self._is_label()
            or _OPERAND_AFTER.search(self._left)
            or _OPERAND_BEFORE.match(self._right)
            or _UNKNOWN_BEFORE_EQUALS.search(self._left)
            or _UNKNOWN_AFTER_EQUALS.match(self._right)
            or _DENIED_BEFORE.search(self._left)
            or _DENIED_AFTER.match(self._right)
        )

    def is_stated(self) -> bool:
        start, end = stated(self._sentence)
        return start <= self._start and self._end <= end

    def needs_result(self) -> bool:
        told = _INSTRUCTION.match(self._sentence.text) or _ECHO_BEFORE.search(self._left)
        return self._weak or self._given or told is not None

    def is_result(self) -> bool:
        if self._weak:
            return self._is_weak_result()
        return bool(
            _RESULT_BEFORE.search(self._left) or _RESULT_AFTER.match(self._right) or self._is_all_that_is_said()
        )

    def is_given_by_student(self) -> bool:
        concluded = _CONCLUDES.search(self._left) is not None
        return not (self._weak or self._given) or concluded or self.is_result()

    def _is_label(self) -> bool:
        line = self._text[max(0, self._start - 20) : self._start]
        listed = _LIST_BEFORE.search(line) and _LIST_AFTER.match(self._text, self._end)
        return bool(listed or _LABEL.search(self._left))

    def _is_weak_result(self) -> bool:
        """The answer is one.  No.  B is correct."""
        if _CLAUSE_ENDS.match(self._right):
            return bool(
                _RESULT_BEFORE.search(self._left)
                or (not self._left.strip(" \"'(") and not self._right.strip(" .!\"')"))
            )
        return self._end - self._start == 1 and _RESULT_AFTER.match(self._right) is not None

    def _is_all_that_is_said(self) -> bool:
        return bool(_LIGHT.fullmatch(self._left) and _LIGHT_AFTER.fullmatch(self._right))
