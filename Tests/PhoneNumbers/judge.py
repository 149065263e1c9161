"""PyPI's `phonenumbers`, the port of libphonenumber, as the source and the judge of how numbers are normalized.

    judge.py plans                  the table of Sources/Domain/NumberingPlan+Table.swift
    judge.py numbers COUNT SEED     numbers of all regions, each with its normal form, or nothing if it must be refused
"""

import random
import sys

import phonenumbers
from phonenumbers import COUNTRY_CODE_TO_REGION_CODE, PhoneMetadata, PhoneNumberFormat

CODES = sorted(COUNTRY_CODE_TO_REGION_CODE, key=str)


def metadata(code, region=None):
    return PhoneMetadata.metadata_for_region_or_calling_code(code, region or COUNTRY_CODE_TO_REGION_CODE[code][0])


def plans():
    """Calling code, lengths, national prefix, its pattern if it is more, what takes its place, numbers without it."""
    for code in CODES:
        plan = metadata(code)
        prefix, pattern = plan.national_prefix or "", plan.national_prefix_for_parsing or ""
        yield "\t".join([
            str(code), ",".join(map(str, plan.general_desc.possible_length)), prefix, "" if pattern == prefix else pattern,
            (plan.national_prefix_transform_rule or "").replace("\\1", "$1").replace("\\2", "$2"),
            plan.general_desc.national_number_pattern if pattern else "",
        ]).rstrip("\t")


def normal(text):
    try:
        number = phonenumbers.parse(text, None)
    except phonenumbers.NumberParseException:
        return ""
    form = phonenumbers.format_number(number, PhoneNumberFormat.E164)
    # E.164 has at most fifteen digits, and the service wants seven.
    possible = phonenumbers.is_possible_number_with_reason(number) == phonenumbers.ValidationResult.IS_POSSIBLE
    return form if possible and 8 <= len(form) <= 16 else ""


def examples():
    for code in CODES:
        for region in COUNTRY_CODE_TO_REGION_CODE[code]:
            plan = metadata(code, region)
            kinds = [plan.fixed_line, plan.mobile, plan.toll_free, plan.premium_rate, plan.voip, plan.personal_number, plan.uan]
            for kind in kinds:
                if kind and kind.example_number:
                    yield code, plan.national_prefix or metadata(code).national_prefix or "", kind.example_number


def numbers(count, seed):
    chance = random.Random(seed)
    known = list(examples())
    for place in range(count):
        code, prefix, national = known[place % len(known)]
        # Other digits after the ones that choose the kind of number, and another length now and then.
        kept = chance.randrange(len(national) + 1)
        length = len(national) + chance.choice([0] * 12 + [-2, -1, 1, 2])
        digits = (national[:kept] + "".join(chance.choices("0123456789", k=20)))[:max(length, 1)]
        if chance.random() < 0.3:
            digits = "".join(chance.choice([digit, digit, f"{digit} ", f"{digit}-"]) for digit in digits)
        text = chance.choice(["+{0}{2}", "+{0}{2}", "+{0} {2}", "+{0}{1}{2}", "+{0}({1}){2}", "+{0} {1} {2}"])
        text = text.format(code, prefix, digits).strip(" -")
        yield f"{text}\t{normal(text)}"


if __name__ == "__main__":
    if sys.argv[1] == "plans":
        print(*plans(), sep="\n")
    else:
        print(*numbers(int(sys.argv[2]), sys.argv[3]), sep="\n")
