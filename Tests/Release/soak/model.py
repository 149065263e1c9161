"""What must be true of the accounts of one person: a pure model of docs/guide/linking.md and docs/reference/errors.md.

An operation says of a state how it is answered and what it changes. What a crash leaves open is open in the model too: a
person is in any of several states, and each answer rules out those in which it could not have been given.
"""

import copy
import itertools

class Account:
    def __init__(self, uid, email=None, verified=False, password=None, phone=None, link=False, rows=()):
        self.uid, self.email, self.verified, self.password = uid, email, verified, password
        self.phone, self.link, self.rows = phone, link, dict(rows)
        # Enrolment ids, and a count of what voids a pending second factor.
        self.factors, self.epoch, self.disabled = frozenset(), 0, False
        # Whether a custom token ever signed in to it: then nobody takes it over (S16).
        self.custom = False

    def copy(self):
        other = copy.copy(self)
        other.rows = dict(self.rows)
        return other

    @property
    def methods(self):
        found = {f"{provider}={subject}" for provider, subject in self.rows.items()}
        return found | ({"password"} if self.password else set()) | ({"phone"} if self.phone else set())

    def seen(self):
        """What an admin sees of it."""
        return (self.uid, self.email, self.verified if self.email else False, frozenset(self.methods), self.phone,
                self.factors, self.disabled)

    def ways_in(self):
        """Without an address, nobody types a password or asks for a link."""
        by_address = bool(self.password) + bool(self.link) if self.email else 0
        return len(self.rows) + bool(self.phone) + by_address

    def unlink(self, method):
        self.rows.pop(method, None)
        if method == "password":
            # SDKs know the link of a mail by that name.
            self.password, self.link = None, False
        if method == "phone":
            self.phone = None

    @property
    def yields_email(self):
        return self.custom and self.email and not self.verified and not self.disabled

    def drop_unproved(self):
        """Somebody else proved the address: T-A7."""
        self.rows, self.password, self.phone, self.link = {}, None, None, False
        self.verified = True


class State:
    def __init__(self):
        # Accounts by uid; sessions as (uid, "alive" | "ended" | "unknown"); conflicts as (provider, subject, email,
        # verified), and as (uid, provider, subject) once they were resumed; codes as (type, uid, email, new email);
        # pending second factors as (uid, epoch, provider).
        self.accounts, self.sessions, self.conflicts, self.codes, self.pending = {}, {}, {}, {}, {}
        self.resumed = {}

    def copy(self):
        other = State()
        other.accounts = {uid: account.copy() for uid, account in self.accounts.items()}
        other.sessions, other.conflicts = dict(self.sessions), dict(self.conflicts)
        other.codes, other.pending, other.resumed = dict(self.codes), dict(self.pending), dict(self.resumed)
        return other

    def seen(self):
        """Equal for states that no answer tells apart."""
        return (frozenset((a.seen(), a.password, a.link, a.epoch, a.custom) for a in self.accounts.values()),
                frozenset(self.sessions.items()), frozenset(self.conflicts), frozenset(self.codes.items()),
                frozenset(self.pending.items()), frozenset(self.resumed.items()))

    def by(self, test):
        return next((account for account in self.accounts.values() if test(account)), None)

    def by_email(self, email):
        return self.by(lambda account: email and account.email == email)

    def by_subject(self, provider, subject):
        return self.by(lambda account: account.rows.get(provider) == subject)

    def by_phone(self, phone):
        return self.by(lambda account: account.phone == phone)

    def refusal(self, session):
        """What an operation with its ID token is refused with; None when it is good, a set when either may be."""
        uid, condition = self.sessions[session]
        account = self.accounts.get(uid)
        if account is None:
            return "USER_NOT_FOUND"
        if account.disabled:
            return "USER_DISABLED" if condition == "alive" else {"USER_DISABLED", "TOKEN_EXPIRED"}
        return {"alive": None, "ended": "TOKEN_EXPIRED", "unknown": {"TOKEN_EXPIRED", "ok"}}[condition]

    def end_sessions(self, uid, but=None):
        for session, (owner, condition) in self.sessions.items():
            if owner == uid and session != but and condition != "ended":
                self.sessions[session] = (uid, "ended")
        self.accounts[uid].epoch += 1

    def void_codes(self, uid, types=None, addresses=()):
        self.codes = {
            code: value for code, value in self.codes.items()
            if not (value[1] == uid and uid is not None and (types is None or value[0] in types))
            and not (value[0] == "EMAIL_SIGNIN" and value[2] in addresses)
        }

    def displace(self, account):
        """Its email leaves it, with all that was sent there."""
        self.verified_changed(account.uid, [account.email])
        account.email, account.verified = None, False

    def verified_changed(self, uid, addresses=()):
        """A word on whether the address is verified voids the codes of before.

        Sign-in codes belong to the address: which of them end with it, the documents leave open.
        """
        self.void_codes(uid)
        self.doubt_codes(addresses)

    def doubt_codes(self, addresses):
        """Sign-in codes of the addresses that may have ended."""
        for code, value in self.codes.items():
            if value[0] == "EMAIL_SIGNIN" and value[2] in addresses:
                self.codes[code] = (*value[:4], "maybe")


def new_uid(answer, serial):
    return answer.uid if answer is not None else f"?{serial}"


class EvenRefused:
    """A change that a refusal brings, too."""

    def __init__(self, change):
        self.change = change

    def __call__(self, state, answer):
        return self.change(state, answer)


class Step:
    """One call, and what the model says of it.

    `predict(state)` gives the labels with which it may be answered, and what that changes: a function of the state and the
    answer, which is None when none came.
    """

    def __init__(self, name, call, predict, session=None, opens=False, moves_auth_time=False, concurrent=True,
                 records=None):
        self.name, self.call, self.predict, self.session, self.opens = name, call, predict, session, opens
        self.moves_auth_time, self.concurrent = moves_auth_time, concurrent
        # (uid, action) of the entry of the audit log that a good answer has left.
        self.records, self.serial = records, None

    def after(self, state, answer):
        """The state after this answer; None when there is no such answer in this state."""
        labels, change = self.predict(state)
        labels = {labels} if isinstance(labels, str) else labels
        if answer.label not in labels:
            return None
        if change is None or answer.label not in ("ok", "mfa", "conflict", "proof") and not isinstance(change, EvenRefused):
            return state
        following = state.copy()
        return following if change(following, answer) is not False else None

    def guesses(self, state):
        """The states that an unanswered call may have left."""
        labels, change = self.predict(state)
        found = [state]
        if change is not None:
            following = state.copy()
            if change(following, None) is not False:
                found.append(following)
        return found


def follow(states, steps, answers):
    """The states that these answers, to calls made at once, may have left: those of any order of them."""
    found = {}
    for state in states:
        for order in itertools.permutations(range(len(steps))):
            reached = [state]
            for index in order:
                step, answer = steps[index], answers[index]
                reached = [
                    following for before in reached
                    for following in (step.guesses(before) if answer.is_unknown else [step.after(before, answer)])
                    if following is not None
                ]
            for following in reached:
                found[following.seen()] = following
    return list(found.values())


# --- The rules


def sign_in(state, account, serial, answer, provider, has_factor=True):
    """Opens a session, or asks for the second factor."""
    if account.factors and has_factor:
        state.pending[serial] = (account.uid, account.epoch, provider)
    else:
        state.sessions[serial] = (account.uid, "alive")


def first_label(account, has_factor=True):
    return "mfa" if account.factors and has_factor else "ok"


def federated(state, serial, provider, subject, email, verified):
    """docs/guide/linking.md, S1 to S9, S15 and S16: the label and the change."""
    owner = state.by_subject(provider, subject)
    if owner is not None:
        if owner.disabled:
            return "USER_DISABLED", None
        is_only_method = not (owner.password or owner.phone or owner.link) and len(owner.rows) == 1
        takes_email = (email and owner.email is None and state.by_email(email) is None and not owner.factors
                       and (verified or is_only_method))

        def sign_in_owner(s, a):
            account = s.accounts[owner.uid]
            if takes_email:
                account.email, account.verified = email, verified
                s.verified_changed(account.uid, [email])
            sign_in(s, account, serial, a, provider)
        return first_label(owner), sign_in_owner
    mail_owner = state.by_email(email)
    if mail_owner is None or verified and mail_owner.yields_email:
        def sign_up(s, a):
            if email and s.by_email(email):
                s.displace(s.by_email(email))
            account = Account(new_uid(a, serial), email, verified and email is not None, rows={provider: subject})
            s.accounts[account.uid] = account
            sign_in(s, account, serial, a, provider)
        return "ok", sign_up
    if not verified:
        def conflict(s, a):
            s.conflicts[serial] = (provider, subject, email, verified)
        return "conflict", conflict
    if mail_owner.disabled:
        return "USER_DISABLED", None

    def link(s, a):
        account = s.accounts[mail_owner.uid]
        if not account.verified:
            account.drop_unproved()
            s.end_sessions(account.uid)
            s.verified_changed(account.uid, [account.email])
        account.rows[provider] = subject
        sign_in(s, account, serial, a, provider)
    return first_label(mail_owner), link


def linked(state, session, provider, subject, email, verified, also=None):
    """docs/guide/linking.md, K1 to K7."""
    refusal = state.refusal(session)
    if isinstance(refusal, str) or refusal and "ok" not in refusal:
        return refusal, None
    uid = state.sessions[session][0]
    account, owner, mail_owner = state.accounts[uid], state.by_subject(provider, subject), state.by_email(email)
    may_fail = refusal or set()
    if owner is not None and owner.uid != uid:
        return may_fail - {"ok"} | {"FEDERATED_USER_ID_ALREADY_LINKED"}, None
    if account.rows.get(provider) == subject:
        return may_fail | {"ok"}, lambda s, a: also(s) if also else None
    if provider in account.rows:
        return may_fail - {"ok"} | {"PROVIDER_ALREADY_LINKED"}, None
    if mail_owner is not None and mail_owner.uid != uid:
        return may_fail - {"ok"} | {"EMAIL_EXISTS"}, None

    def link(s, a):
        account = s.accounts[uid]
        account.rows[provider] = subject
        if account.email is None and email:
            account.email, account.verified = email, verified
            s.verified_changed(uid, [email])
        elif account.email == email and verified and not account.verified:
            account.verified = True
            s.verified_changed(uid)
        if also:
            also(s)
    return may_fail | {"ok"}, link


def with_session(state, session, change, refused=None, sensitive=False):
    """An operation of the signed-in account; `refused(account)` is its own refusal."""
    refusal = state.refusal(session)
    if isinstance(refusal, str) or refusal and "ok" not in refusal:
        return refusal, None
    uid = state.sessions[session][0]
    own = refused(state.accounts[uid]) if refused else None
    labels = (refusal or {"ok"})
    if own:
        return labels - {"ok"} | {own}, None
    return labels, lambda s, a: change(s, s.accounts[uid], a)
