"""A simulated person: some addresses, identities and a number, and everything that can be done with them."""

import asyncio
import base64
import collections
import hashlib
import hmac
import re
import struct
import time
import urllib.parse

import model
from model import Account, State, Step
from wire import Answer, claims_of

RECENT = 200  # Seconds for which a session counts as recent beyond doubt; the service's own limit is 300.
TOO_OLD = 380


class Violation(Exception):
    pass


def has_factors(state, session):
    account = state.accounts.get(state.sessions[session][0])
    return bool(account and account.factors)


class Tokens:
    def __init__(self, answer, opened):
        self.id, self.refresh, self.opened = answer.id_token, answer.refresh_token, opened
        claims = answer_claims(answer)
        self.auth_time, self.provider = claims["auth_time"], claims["firebase"]["sign_in_provider"]


def answer_claims(answer):
    return claims_of(answer.id_token)


def totp(secret, step):
    key = base64.b32decode(secret + "=" * (-len(secret) % 8))
    digest = hmac.new(key, struct.pack(">Q", step), hashlib.sha1).digest()
    offset = digest[-1] & 15
    return f"{(struct.unpack('>I', digest[offset:offset + 4])[0] & 0x7fffffff) % 1_000_000:06}"


class Person:
    PROVIDERS = ("oidc.one", "oidc.two")

    def __init__(self, number, world, rng):
        self.number, self.world, self.rng = number, world, rng
        self.states, self.history, self.serial = [State()], [], 0
        self.emails = [f"p{number}.{letter}@example.com" for letter in "ab"]
        self.subjects = {provider: [f"{number}-{provider[-3:]}-{index}" for index in range(2)] for provider in self.PROVIDERS}
        self.phone = f"+4915{550000000 + number}"
        self.tokens, self.conflicts, self.codes, self.pending, self.secrets = {}, {}, {}, {}, {}
        self.unnamed, self.late = {}, []
        self.retired, self.valid_since, self.latest_begin, self.uids = [], {}, {}, set()
        # What the audit log must have, by account: how often an action, and that it may have more; each session once or more.
        self.recorded, self.is_recorded_exactly, self.opened = collections.Counter(), True, set()
        self.password = 0
        self.custom_uid = f"custom-{number}"

    # Doing

    async def round(self, steps, nodes=None):
        """Makes the calls at once, and rules out what their answers contradict."""
        for step in steps:
            self.serial += 1
            step.serial = step.serial or self.serial
        if nodes is None:
            nodes = [self.rng.choice(self.world.nodes) for _ in steps]
        fault = self.world.faults
        began = time.time()
        answers = await asyncio.gather(*(step.call(node) for step, node in zip(steps, nodes)))
        self.world.operations += len(steps)
        for step, answer in zip(steps, answers):
            self.history.append((round(time.monotonic() - self.world.began, 3), step.name, step.serial, answer))
            self.world.count(step, answer)
            if answer.is_unknown and not (self.world.excuses(fault)):
                raise Violation(f"no answer, or 5xx, without a fault: {step.name}: {answer}")
        following = model.follow(self.states, steps, answers) or model.follow(self.late_states(), steps, answers)
        if not following:
            raise Violation("no order of the calls explains the answers: " + "; ".join(
                f"{step.name} → {answer}" + (f" {answer.body}" if "lookup" in step.name else "")
                for step, answer in zip(steps, answers)))
        self.states = following
        for step, answer in zip(steps, answers):
            self.keep(step, answer, began, beside=len(steps) - 1)
            if answer.is_unknown:
                self.late.append((time.monotonic() + 30, step))
        return answers

    def late_states(self):
        """The states if a call without an answer was carried out only now: PostgreSQL goes on with a statement whose node
        died, and its commit waits for a standby that is being restored."""
        self.late = [(end, step) for end, step in self.late if time.monotonic() < end]
        return [state for _, step in self.late for before in self.states
                if step.session is None or step.session in before.sessions for state in step.guesses(before)[1:]]

    def keep(self, step, answer, began, beside):
        """The tokens and credentials of an answer, with so many calls made at the same time."""
        if answer.is_unknown:
            self.is_recorded_exactly = False
            return
        if answer.uid:
            self.uids.add(answer.uid)
        if step.records and answer.label == "ok":
            uid, action = step.records
            self.recorded[uid or answer.uid, action] += 1
            if action == "ACCOUNT_DELETED":
                # Another account may get the id, at a node whose clock is behind.
                self.valid_since.pop(uid, None)
        if answer.label == "conflict":
            self.conflicts[step.serial] = answer.body["pendingToken"]
        if answer.label == "mfa":
            self.pending[step.serial] = (answer.body["mfaPendingCredential"], answer.body["mfaInfo"])
        if not answer.id_token or not answer.refresh_token:
            return
        session = step.session if step.session is not None and not step.opens else step.serial
        claims = answer_claims(answer)
        before = self.tokens.get(session)
        if before is None:
            self.opened.add((answer.uid, claims["firebase"]["sid"]))
            self.tokens[session] = Tokens(answer, time.monotonic())
            earliest, latest = began - self.world.drift, time.time() + self.world.drift
            # Later only where an account's tokens were revoked by a clock that is ahead.
            # Each call beside it may have opened a session and ended it again.
            latest = max(latest, self.latest_begin.get(claims["sub"], 0) + beside)
            if not earliest <= claims["auth_time"] <= latest:
                raise Violation(f"{step.name}: auth_time is {claims['auth_time'] - time.time():+.1f} s off")
            # Once this session is ended, the next one is a second later.
            self.latest_begin[claims["sub"]] = max(claims["auth_time"] + 1, self.latest_begin.get(claims["sub"], 0))
            return
        if claims["auth_time"] != before.auth_time:
            if not step.moves_auth_time:
                raise Violation(f"{step.name} moved auth_time from {before.auth_time} to {claims['auth_time']}")
            if claims["auth_time"] < before.auth_time:
                raise Violation(f"{step.name} moved auth_time back, from {before.auth_time} to {claims['auth_time']}")
            # By a sign-in of now, or of another session that it has ended.
            before.opened = min(time.monotonic(), before.opened + claims["auth_time"] - before.auth_time)
        if answer.id_token == before.id:
            raise Violation(f"{step.name} answered the ID token of before")
        if step.name.startswith("set a password"):
            self.retired.append((session, before.refresh))
        before.id, before.refresh, before.auth_time = answer.id_token, answer.refresh_token, claims["auth_time"]
        before.provider = claims["firebase"]["sign_in_provider"]

    async def check_audit_log(self):
        """Each sign-in and each deletion has its entry, and none has two."""
        if self.world.is_failing:
            return
        node, found = self.rng.choice(self.world.nodes), collections.Counter()
        for uid in {uid for uid, _ in {*self.recorded, *self.opened}}:
            page = ""
            while page is not None:
                answer = await node.call("GET", f"auditEntries?localId={uid}&pageSize=1000{page}", admin=True)
                if answer.label != "ok":
                    return
                for entry in answer.body["auditEntries"]:
                    found[uid, entry["action"]] += 1
                    if entry["action"] != "SESSION_REVOKED":
                        found[uid, entry.get("resource")] += 1
                following = answer.body.get("nextPageToken")
                page = following and "&pageToken=" + urllib.parse.quote(following)
        for key, count in self.recorded.items():
            if found[key] < count or self.is_recorded_exactly and found[key] > count:
                raise Violation(f"the audit log has {found[key]} × {key}, and {count} were answered")
        for uid, session in self.opened:
            if not found[uid, session]:
                raise Violation(f"the audit log does not say when session {session} of {uid} was opened")

    async def live(self):
        """One thing after the other; what was there, and what it left, is looked at after each."""
        if self.rng.random() < 0.25:
            steps = [step for step in (self.choose() for _ in range(self.rng.choice((2, 2, 3)))) if step]
            # Two at once would not know which of their tokens are the newer ones.
            sessions = [step.session for step in steps]
            steps = [step for index, step in enumerate(steps) if step.concurrent
                     and (step.session is None or step.session not in sessions[:index])]
        else:
            step = self.choose()
            steps = [step] if step else []
        if not steps:
            return
        answers = await self.round(steps)
        for step, answer in zip(steps, answers):
            if not answer.is_unknown and answer.id_token:
                session = step.session if step.session is not None and not step.opens else step.serial
                # At once, at both nodes.
                for node in self.world.nodes:
                    await self.round([self.look_up(session)], [node])
                if self.rng.random() < 0.3:
                    await self.round([self.refresh(session)])
        await self.round([self.look_up_as_admin()])
        old = [session for session in self.tokens if session in self.states[0].sessions]
        if old and self.rng.random() < 0.5:
            session = self.rng.choice(old)
            await self.round([self.rng.choice((self.look_up, self.refresh))(session)])
        if self.retired and self.rng.random() < 0.2:
            await self.round([self.use_retired(self.rng.choice(self.retired))])
        self.forget()

    def forget(self):
        """What ended long ago is tried no more; a world that fills up is emptied."""
        for session in list(self.tokens)[:-12]:
            del self.tokens[session]
            for state in self.states:
                state.sessions.pop(session, None)
        for state in self.states:
            for kept in (state.conflicts, state.resumed, state.pending):
                for key in list(kept)[:-4]:
                    del kept[key]
            for key in list(state.codes)[:-6]:
                del state.codes[key]
        self.retired = self.retired[-6:]

    # Choosing

    def choose(self):
        rng, state = self.rng, self.states[0]
        name = rng.choices(self.NAMES, self.WEIGHTS)[0]
        return getattr(self, name)(state)

    def a_session(self, state, sensitive=False):
        good = [session for session, (uid, condition) in state.sessions.items() if session in self.tokens
                and (condition == "alive" or self.rng.random() < 0.1)]
        if sensitive:
            # Custom tokens sign in without the second factor, and then may do little.
            good = [session for session in good if time.monotonic() - self.tokens[session].opened < RECENT
                    and not (self.tokens[session].provider == "custom" and has_factors(state, session))]
        return self.rng.choice(good) if good else None

    def a_session_that_links(self, state):
        """Of an account with a second factor, one that is recent."""
        session = self.a_session(state)
        return self.a_session(state, sensitive=True) if session is not None and has_factors(state, session) else session

    def an_account(self, state):
        known = [account for account in state.accounts.values() if not account.uid.startswith("?")]
        return self.rng.choice(known) if known else None

    def new_password(self):
        self.password += 1
        return f"correct horse {self.number} {self.password}"

    def identity(self):
        """What a provider says of somebody who comes from it."""
        provider = self.rng.choice(self.PROVIDERS)
        email = self.rng.choice([*self.emails, self.emails[0], None])
        return provider, self.rng.choice(self.subjects[provider]), email, bool(email) and self.rng.random() < 0.6

    # Signing in

    def sign_up(self, state):
        email, password = self.rng.choice(self.emails), self.new_password()

        def predict(s):
            if s.by_email(email):
                return "EMAIL_EXISTS", None

            def change(s, a):
                account = Account(model.new_uid(a, step.serial), email, password=password)
                s.accounts[account.uid] = account
                s.verified_changed(account.uid, [email])
                if a:
                    s.sessions[step.serial] = (account.uid, "alive")
            return "ok", change
        step = Step(f"signUp {email}", lambda node: node.call("POST", "accounts:signUp", {
            "email": email, "password": password}), predict)
        return step

    def sign_up_as_guest(self, state):
        if len(state.accounts) > 4:
            return None

        def predict(s):
            def change(s, a):
                if a is None:
                    return False
                s.accounts[a.uid] = Account(a.uid)
                s.sessions[step.serial] = (a.uid, "alive")
            return "ok", change
        step = Step("signUp anonymous", lambda node: node.call("POST", "accounts:signUp", {}), predict)
        return step

    def sign_in_with_password(self, state):
        having = [account for account in state.accounts.values() if account.password and account.email]
        if not having:
            return None
        account = self.rng.choice(having)
        email, password = account.email, account.password if self.rng.random() < 0.85 else "wrong horse"

        def predict(s):
            owner = s.by_email(email)
            if not owner or owner.password != password:
                return "INVALID_LOGIN_CREDENTIALS", None
            if owner.disabled:
                return "USER_DISABLED", None
            return model.first_label(owner), lambda s, a: a and model.sign_in(
                s, s.accounts[owner.uid], step.serial, a, "password")
        step = Step(f"signInWithPassword {email}", lambda node: node.call("POST", "accounts:signInWithPassword", {
            "email": email, "password": password}), predict)
        return step

    def with_identity(self, identity, **more):
        token = self.world.provider.id_token(*identity)
        return {"postBody": urllib.parse.urlencode({"id_token": token, "providerId": identity[0]}),
                "requestUri": "http://localhost", "returnIdpCredential": True, **more}

    def sign_in_with_idp(self, state):
        identity = self.identity()
        body = self.with_identity(identity)

        def predict(s):
            label, change = model.federated(s, step.serial, *identity)
            return label, change and (lambda s, a: self.without_session(change, s, a, step.serial))
        step = Step(f"signInWithIdp {identity}", lambda node: node.call("POST", "accounts:signInWithIdp", body), predict)
        return step

    @staticmethod
    def without_session(change, state, answer, serial):
        """A session that nobody got the tokens of is nobody's."""
        result = change(state, answer)
        if answer is None:
            state.sessions.pop(serial, None)
            state.pending.pop(serial, None)
            state.conflicts.pop(serial, None)
        return result

    def link_with_idp(self, state):
        session = self.a_session_that_links(state)
        if session is None:
            return None
        identity = self.identity()
        body = self.with_identity(identity, idToken=self.tokens[session].id)
        return Step(f"signInWithIdp {identity}, linked by session {session}",
                    lambda node: node.call("POST", "accounts:signInWithIdp", body),
                    lambda s: model.linked(s, session, *identity), session)

    def resume(self, state):
        session = self.a_session_that_links(state)
        if session is None or not state.conflicts:
            return None
        conflict = self.rng.choice(list(state.conflicts))
        if conflict not in self.conflicts:
            return None
        body = {"idToken": self.tokens[session].id, "pendingToken": self.conflicts[conflict],
                "requestUri": "http://localhost", "returnIdpCredential": True}

        def predict(s):
            if conflict not in s.conflicts:
                refusal = s.refusal(session)
                # It may have been spent after it was read.
                labels = {"INVALID_PENDING_TOKEN", "FEDERATED_USER_ID_ALREADY_LINKED"}
                labels |= ({refusal} if isinstance(refusal, str) else refusal or set()) - {"ok"}
                # For a minute, the account that it was linked to gets the same answer again (docs/guide/linking.md).
                uid, provider, subject = s.resumed.get(conflict, (None, None, None))
                account = s.accounts.get(uid)
                if (not isinstance(refusal, str) and uid == s.sessions[session][0]
                        and account.rows.get(provider) == subject):
                    labels.add("ok")
                return labels, None

            def resumed(s):
                provider, subject, *_ = s.conflicts.pop(conflict)
                s.resumed[conflict] = (s.sessions[session][0], provider, subject)
            return model.linked(s, session, *s.conflicts[conflict], also=resumed)
        return Step(f"signInWithIdp, conflict {conflict} by session {session}",
                    lambda node: node.call("POST", "accounts:signInWithIdp", body), predict, session)

    def sign_in_with_custom_token(self, state):
        uid = self.custom_uid
        token, issued = self.world.custom_token(uid)
        known = state.accounts.get(uid)

        def predict(s):
            account = s.accounts.get(uid)
            # One that was issued before the account was last signed out everywhere is refused.
            is_older = account and (issued <= self.valid_since.get(uid, issued) + self.world.drift
                                    or known is None or account.epoch != known.epoch)
            older = {"INVALID_CUSTOM_TOKEN"} if is_older else set()
            if account and account.disabled:
                return older | {"USER_DISABLED"}, None

            def change(s, a):
                account = s.accounts.setdefault(uid, Account(uid))
                account.custom = True
                if a:
                    model.sign_in(s, account, step.serial, a, "custom", has_factor=False)
            return older | {"ok"}, change
        step = Step("signInWithCustomToken", lambda node: node.call("POST", "accounts:signInWithCustomToken", {
            "token": token}), predict)
        return step

    # Codes of mails, which an admin asks for

    def send_code(self, state):
        kind = self.rng.choice(("PASSWORD_RESET", "EMAIL_SIGNIN", "EMAIL_SIGNIN", "VERIFY_EMAIL", "VERIFY_AND_CHANGE_EMAIL"))
        if kind == "EMAIL_SIGNIN":
            email, owner = self.rng.choice(self.emails), None
        else:
            having = [account for account in state.accounts.values() if account.email]
            if not having:
                return None
            email = self.rng.choice(having).email
        new_email = self.rng.choice(self.emails) if kind == "VERIFY_AND_CHANGE_EMAIL" else None
        if new_email == email:
            return None
        body = {"requestType": kind, "email": email, "returnOobLink": True, "continueUrl": "http://localhost/done",
                "canHandleCodeInApp": True, **({"newEmail": new_email} if new_email else {})}

        def predict(s):
            owner = s.by_email(email)
            if kind != "EMAIL_SIGNIN" and owner is None:
                return {"EMAIL_NOT_FOUND", "USER_NOT_FOUND"}, None
            if owner and owner.disabled:
                return {"USER_DISABLED", "EMAIL_EXISTS", "ok"}, lambda s, a: add(s, a, owner.uid) if a else None
            if new_email and s.by_email(new_email):
                return {"EMAIL_EXISTS"}, None
            uid = owner.uid if owner else None
            return "ok", lambda s, a: add(s, a, uid)

        def add(s, a, uid):
            # A sign-in mail leaves the older ones good.
            if kind != "EMAIL_SIGNIN":
                s.void_codes(uid, [kind])
            if a:
                s.codes[a.body["oobCode"]] = (kind, uid if kind != "EMAIL_SIGNIN" else None, email, new_email)
        return Step(f"sendOobCode {kind} {email}" + (f" {new_email}" if new_email else ""),
                    lambda node: node.call("POST", "accounts:sendOobCode", body, admin=True), predict)

    def use_code(self, state):
        if not state.codes:
            return None
        code = self.rng.choice(list(state.codes))
        kind, uid, email, new_email = state.codes[code][:4]
        return {"PASSWORD_RESET": self.reset, "EMAIL_SIGNIN": self.sign_in_by_link, "VERIFY_EMAIL": self.apply,
                "VERIFY_AND_CHANGE_EMAIL": self.apply}[kind](code, uid, email, new_email)

    def reset(self, code, uid, email, _):
        password = self.new_password()

        def predict(s):
            if code not in s.codes:
                return "INVALID_OOB_CODE", None
            if s.accounts[uid].disabled:
                return "USER_DISABLED", model.EvenRefused(lambda s, a: s.codes.pop(code, None) and None)

            def change(s, a):
                account = s.accounts[uid]
                if account.yields_email:
                    s.displace(account)
                    account = Account(model.new_uid(None, step.serial), email, True, password)
                    s.accounts[account.uid] = account
                    return
                if not account.verified:
                    account.drop_unproved()
                account.password = password
                s.verified_changed(uid)
                s.end_sessions(uid)
            return "ok", change
        step = Step(f"resetPassword {email}", lambda node: node.call("POST", "accounts:resetPassword", {
            "oobCode": code, "newPassword": password}), predict)
        return step

    def sign_in_by_link(self, code, _, email, __):
        def predict(s):
            if code not in s.codes:
                return "INVALID_OOB_CODE", None
            owner, gone = s.by_email(email), {"INVALID_OOB_CODE"} if len(s.codes[code]) > 4 else set()
            if owner and owner.disabled:
                return gone | {"USER_DISABLED"}, None
            label = model.first_label(owner) if owner and owner.verified else "ok"

            def change(s, a):
                s.codes.pop(code, None)
                # It ends the older ones, by the clocks of the nodes that sent them.
                s.doubt_codes([email])
                account = s.by_email(email)
                if account and account.yields_email:
                    s.displace(account)
                    account = None
                if account is None:
                    account = Account(model.new_uid(a, step.serial), email, True, link=True)
                    s.accounts[account.uid] = account
                    s.verified_changed(account.uid, [email])
                elif not account.verified:
                    account.drop_unproved()
                    s.end_sessions(account.uid)
                    s.verified_changed(account.uid, [email])
                elif not account.link:
                    # The new way in says once more that the address is verified.
                    s.verified_changed(account.uid)
                account.link = True
                if a:
                    model.sign_in(s, account, step.serial, a, "emailLink")
            return gone | {label}, change
        step = Step(f"signInWithEmailLink {email}", lambda node: node.call("POST", "accounts:signInWithEmailLink", {
            "email": email, "oobCode": code}), predict)
        return step

    def apply(self, code, uid, email, new_email):
        def predict(s):
            if code not in s.codes:
                return "INVALID_OOB_CODE", None
            if s.accounts[uid].disabled:
                return "USER_DISABLED", None
            if new_email and s.by_email(new_email):
                return "EMAIL_EXISTS", None

            def change(s, a):
                account = s.accounts[uid]
                s.codes.pop(code, None)
                account.verified = True
                s.verified_changed(uid, [email, new_email] if new_email else [])
                if new_email:
                    account.email = new_email
                    account.link = account.link
                    s.end_sessions(uid)
            return "ok", change
        return Step(f"update by the code of {email}" + (f" for {new_email}" if new_email else ""),
                    lambda node: node.call("POST", "accounts:update", {"oobCode": code}), predict)

    # Phones

    def sign_in_by_phone(self, state):
        """Asks for an SMS and waits for it; then one call."""
        session = self.a_session(state) if self.rng.random() < 0.4 else None
        token = self.tokens[session].id if session is not None else None
        phone = self.phone

        async def call(node):
            sent = self.world.provider.sms.setdefault(phone, [])
            # What was sent before may come again, from a node that died before it could say so.
            before = set(sent)
            asked = await node.call("POST", "accounts:sendVerificationCode", {"phoneNumber": phone})
            if asked.label != "ok":
                return asked
            # Where nodes die or their clocks are moved, another one sends it when the lease of the first is over.
            limit = time.monotonic() + (100 if self.world.options.faults else 20)
            while not (came := [text for text in sent if text not in before]):
                if time.monotonic() > limit:
                    raise Violation("the SMS did not come")
                await asyncio.sleep(0.02)
            code = re.search(r"\b\d{6}\b", came[-1]).group()
            return await node.call("POST", "accounts:signInWithPhoneNumber", {
                "sessionInfo": asked.body["sessionInfo"], "code": code, **({"idToken": token} if token else {})})

        def predict(s):
            owner = s.by_phone(phone)
            if session is not None:
                def refused(account):
                    if owner and owner.uid != account.uid:
                        return "proof"
                    if account.factors:
                        return "UNSUPPORTED_FIRST_FACTOR"

                def change(s, account, a):
                    account.phone = phone
                return model.with_session(s, session, change, refused)
            if owner and owner.disabled:
                return "USER_DISABLED", None
            if owner and owner.factors:
                return "UNSUPPORTED_FIRST_FACTOR", None

            def sign_in(s, a):
                account = s.by_phone(phone)
                if account is None:
                    account = Account(model.new_uid(a, step.serial), phone=phone)
                    s.accounts[account.uid] = account
                if a:
                    s.sessions[step.serial] = (account.uid, "alive")
            return "ok", sign_in
        step = Step("signInWithPhoneNumber" + (f", linked by session {session}" if session is not None else ""), call,
                    predict, session, moves_auth_time=True, concurrent=False)
        return step

    # The signed-in account

    def update(self, name, session, body, change, refused=None, moves=False):
        body = {"idToken": self.tokens[session].id, "returnSecureToken": True, **body}
        return Step(f"{name} by session {session}", lambda node: node.call("POST", "accounts:update", body),
                    lambda s: model.with_session(s, session, change, refused), session, moves_auth_time=moves)

    def set_password(self, state):
        session = self.a_session(state, sensitive=True)
        if session is None:
            return None
        password = self.new_password()

        def change(s, account, a):
            account.password = password
            s.end_sessions(account.uid, but=session)
            s.void_codes(account.uid, ["VERIFY_AND_CHANGE_EMAIL"])
            if a is None:
                s.sessions[session] = (account.uid, "unknown")
        return self.update("set a password", session, {"password": password}, change,
                           lambda account: None if account.email else "OPERATION_NOT_ALLOWED", moves=True)

    def unlink(self, state):
        method = self.rng.choice([*self.PROVIDERS, *self.PROVIDERS, "password", "phone"])
        own = method in ("password", "phone")
        session = self.a_session(state, sensitive=True) if own else self.a_session_that_links(state)
        if session is None:
            return None

        def refused(account):
            # A password without an address opens nothing, so it may always go.
            left = account.copy()
            left.unlink(method)
            recovers = account.email and account.verified
            if account.ways_in() > left.ways_in() == 0 and not recovers:
                return "OPERATION_NOT_ALLOWED"

        def change(s, account, a):
            account.unlink(method)
        return self.update(f"unlink {method}", session, {"deleteProvider": [method]}, change, refused)

    def rename(self, state):
        session = self.a_session(state)
        if session is None:
            return None
        return self.update("set a name", session, {"displayName": f"Ada {self.serial}"}, lambda s, account, a: None)

    def revoke_tokens(self, state):
        session = self.a_session(state, sensitive=True)
        if session is None:
            return None

        def change(s, account, a):
            s.end_sessions(account.uid, but=session)
            s.void_codes(account.uid, ["VERIFY_AND_CHANGE_EMAIL"])
            # A first factor that somebody proved stands or not: it opens nothing without the second one.
            s.pending = {key: value for key, value in s.pending.items() if value[0] != account.uid}
            if a is None:
                s.sessions[session] = (account.uid, "unknown")
        step = self.update("revoke all tokens", session, {"validSince": "1"}, change, moves=True)
        predict = step.predict

        def predict_later(s):
            labels, found = predict(s)
            # Another one signed in later, perhaps by a call that got no answer.
            labels = {labels} if isinstance(labels, str) else labels
            return labels | {"CREDENTIAL_TOO_OLD_LOGIN_AGAIN"} if "ok" in labels else labels, found
        step.predict = predict_later
        return step

    def sign_out(self, state):
        scope = self.rng.choice(("current", "current", "others", "all"))
        session = self.a_session(state, sensitive=scope == "others")
        if session is None:
            return None
        token = self.tokens[session].id

        def change(s, account, a):
            if scope == "current":
                s.sessions[session] = (account.uid, "ended")
            else:
                s.void_codes(account.uid, ["VERIFY_AND_CHANGE_EMAIL"])
                s.pending = {key: value for key, value in s.pending.items() if value[0] != account.uid}
                s.end_sessions(account.uid, but=None if scope == "all" else session)

        def predict(s):
            labels, found = model.with_session(s, session, change)
            if found and scope == "others":
                # Another one signed in later, perhaps by a call that got no answer.
                labels = labels | {"CREDENTIAL_TOO_OLD_LOGIN_AGAIN"}
            # Of an account that is deleted meanwhile, only the session is missed.
            return {"USER_NOT_FOUND", "TOKEN_EXPIRED"} if labels == "USER_NOT_FOUND" else labels, found
        return Step(f"signOut {scope} by session {session}", lambda node: node.call("POST", "accounts:signOut", {
            "idToken": token, "scope": scope}), predict, session)

    def delete(self, state):
        session = self.a_session(state, sensitive=True)
        if session is None:
            return None
        token = self.tokens[session].id
        return Step(f"delete by session {session}", lambda node: node.call("POST", "accounts:delete", {"idToken": token}),
                    lambda s: model.with_session(s, session, lambda s, account, a: self.gone(s, account.uid)), session,
                    records=(claims_of(token)["sub"], "ACCOUNT_DELETED"))

    @staticmethod
    def gone(state, uid):
        state.end_sessions(uid)
        account = state.accounts.pop(uid)
        # A stranger's account, which never proved the address, ends none of its codes (T-A7).
        state.void_codes(uid, addresses=[account.email] if account.verified else ())

    def look_up(self, session):
        token = self.tokens[session].id

        def predict(s):
            refusal = s.refusal(session) if session in s.sessions else {"ok", "TOKEN_EXPIRED", "USER_NOT_FOUND"}
            return refusal or "ok", lambda s, a: None if a is None else self.same(s.accounts.get(
                s.sessions[session][0]) if session in s.sessions else None, a.body["users"][0])
        return Step(f"lookup by session {session}", lambda node: node.call("POST", "accounts:lookup", {
            "idToken": token}), predict)

    def refresh(self, session):
        token = self.tokens[session].refresh
        return Step(f"token by session {session}", lambda node: node.call("POST", "token", {
            "grantType": "refresh_token", "refreshToken": token}),
            lambda s: (s.refusal(session) or "ok", lambda s, a: None), session)

    def use_retired(self, retired):
        session, token = retired
        return Step(f"token of before, of session {session}", lambda node: node.call("POST", "token", {
            "grantType": "refresh_token", "refreshToken": token}),
            lambda s: ({"TOKEN_EXPIRED", "USER_NOT_FOUND", "USER_DISABLED", "INVALID_REFRESH_TOKEN"}, None))

    # Second factors

    def enrol(self, state):
        session = self.a_session(state, sensitive=True)
        uid = state.sessions[session][0] if session is not None else None
        account = state.accounts.get(uid)
        if account is None or not account.verified or not account.email or account.factors or account.phone:
            return None
        token = self.tokens[session].id
        shown = []

        async def call(node):
            started = await node.call("POST", "/v2/accounts/mfaEnrollment:start", {
                "idToken": token, "totpEnrollmentInfo": {}})
            if started.label != "ok":
                return started
            info = started.body["totpSessionInfo"]
            shown[:] = info["sharedSecretKey"], int(self.world.time_at(node)) // 30
            code = totp(*shown)
            return await node.call("POST", "/v2/accounts/mfaEnrollment:finalize", {
                "idToken": token, "displayName": "app", "totpVerificationInfo": {"sessionInfo": info["sessionInfo"], "verificationCode": code}})

        def predict(s):
            def change(s, account, a):
                if a is None:
                    if not shown:
                        return False
                    # Nobody was told its id: a look-up says it.
                    enrolment = f"?{step.serial}"
                    self.unnamed[enrolment] = tuple(shown)
                    s.sessions[session] = (account.uid, "unknown")
                else:
                    enrolment = answer_claims(a)["firebase"]["second_factor_identifier"]
                    self.secrets[enrolment], self.world.last_steps[enrolment] = shown
                account.factors |= {enrolment}
                s.end_sessions(account.uid, but=session)
                s.void_codes(account.uid, ["VERIFY_AND_CHANGE_EMAIL"])
            provider = self.tokens[session].provider
            return model.with_session(s, session, change, lambda account: (
                "UNSUPPORTED_FIRST_FACTOR" if provider in ("anonymous", "custom", "phone") else
                None if account.email and account.verified else "UNVERIFIED_EMAIL"))
        step = Step(f"enrol an app by session {session}", call, predict, session, moves_auth_time=True, concurrent=False)
        return step

    def second_factor(self, state):
        usable = [serial for serial in state.pending if serial in self.pending]
        if not usable:
            return None
        serial = self.rng.choice(usable)
        uid, _, provider = state.pending[serial]
        account = state.accounts.get(uid)
        if not account or not account.factors:
            return None
        enrolment = next(iter(account.factors))
        if enrolment not in self.secrets:
            return None
        credential = self.pending[serial][0]

        async def call(node):
            step = int(self.world.time_at(node)) // 30
            self.world.last_steps[enrolment] = step
            return await node.call("POST", "/v2/accounts/mfaSignIn:finalize", {
                "mfaPendingCredential": credential, "mfaEnrollmentId": enrolment,
                "totpVerificationInfo": {"verificationCode": totp(self.secrets[enrolment], step)}})
        # A code opens one session, and enrols once: whoever is early waits for the next one, at both nodes.
        if min(int(self.world.time_at(node)) // 30 for node in self.world.nodes) <= self.world.last_steps[enrolment]:
            return None

        def predict(s):
            found = s.pending.get(serial)
            account = s.accounts.get(uid)
            if account is None:
                return {"USER_NOT_FOUND", "INVALID_MFA_PENDING_CREDENTIAL"}, None
            if account.disabled:
                return "USER_DISABLED", None
            # What it began with may be unlinked since.
            is_gone = (provider in self.PROVIDERS and provider not in account.rows
                       or provider in ("password", "emailLink") and not account.password and not account.link)
            if not found or found[1] != account.epoch or enrolment not in account.factors or is_gone:
                return {"INVALID_MFA_PENDING_CREDENTIAL", "MFA_ENROLLMENT_NOT_FOUND"}, None

            def change(s, a):
                if a:
                    s.sessions[step.serial] = (uid, "alive")
            return "ok", change
        step = Step(f"mfaSignIn {serial}", call, predict, concurrent=False)
        return step

    def withdraw(self, state):
        session = self.a_session(state, sensitive=True)
        account = state.accounts.get(state.sessions[session][0]) if session is not None else None
        if not account or not account.factors:
            return None
        enrolment, token = next(iter(account.factors)), self.tokens[session].id
        if enrolment in self.unnamed:
            return None

        def change(s, account, a):
            account.factors -= {enrolment}
            s.end_sessions(account.uid, but=session)
            s.void_codes(account.uid, ["VERIFY_AND_CHANGE_EMAIL"])
            if a is None:
                s.sessions[session] = (account.uid, "unknown")
        return Step(f"withdraw the app by session {session}", lambda node: node.call(
            "POST", "/v2/accounts/mfaEnrollment:withdraw", {"idToken": token, "mfaEnrollmentId": enrolment}),
            lambda s: model.with_session(s, session, change), session, moves_auth_time=True)

    # Admins

    def admin_create(self, state):
        email, password = self.rng.choice(self.emails), self.new_password()
        verified = self.rng.random() < 0.5

        def predict(s):
            if s.by_email(email):
                return "EMAIL_EXISTS", None

            def change(s, a):
                account = Account(model.new_uid(a, step.serial), email, verified, password)
                s.accounts[account.uid] = account
                s.verified_changed(account.uid, [email])
            return "ok", change
        step = Step(f"admin: create {email}", lambda node: node.call("POST", "accounts", {
            "email": email, "password": password, "emailVerified": verified}, admin=True), predict,
            records=(None, "ACCOUNT_CREATED"))
        return step

    def admin_import(self, state):
        uid, email, provider = f"imported-{self.number}-{self.serial}", self.rng.choice(self.emails), self.rng.choice(self.PROVIDERS)
        subject, verified = self.rng.choice(self.subjects[provider]), self.rng.random() < 0.5
        user = {"localId": uid, "email": email, "emailVerified": verified,
                "providerUserInfo": [{"providerId": provider, "rawId": subject}]}
        problems = {"email exists in other account in database": "EMAIL_EXISTS",
                    "raw id exists in other account in database": "SUBJECT_EXISTS"}

        async def call(node):
            answer = await node.call("POST", "accounts:batchCreate", {"users": [user]}, admin=True)
            for error in answer.body.get("error", []) if answer.label == "ok" else []:
                return Answer(400, {"error": {"message": problems.get(error["message"], error["message"])}}, node.name)
            return answer

        def predict(s):
            taken = {"EMAIL_EXISTS"} if s.by_email(email) else set()
            taken |= {"SUBJECT_EXISTS"} if s.by_subject(provider, subject) else set()

            def change(s, a):
                s.accounts[uid] = Account(uid, email, verified, rows={provider: subject})
                s.verified_changed(uid, [email])
            return taken or "ok", None if taken else change
        self.uids.add(uid)
        return Step(f"admin: import {uid} {email} {provider}={subject}", call, predict, records=(uid, "ACCOUNT_IMPORTED"))

    def admin_merge(self, state):
        """A merge that is undone: both accounts are what they were, and the sessions of the one are over."""
        known = [account.uid for account in state.accounts.values() if not account.uid.startswith("?") and not account.disabled]
        if len(known) < 2 or self.world.options.faults:
            return None
        kept, merged = self.rng.sample(known, 2)
        # An account whose email nobody verified takes no other one.
        if not state.accounts[kept].email or not state.accounts[kept].verified:
            return None

        async def call(node):
            body = {"localId": kept, "mergedLocalId": merged}
            preview = await node.call("POST", "accounts:merge", {**body, "validateOnly": True}, admin=True)
            if preview.label != "ok":
                return preview
            body["dropProviders"] = sorted({conflict["providerId"] for conflict in preview.body.get("conflicts", [])})
            done = await node.call("POST", "accounts:merge", body, admin=True)
            if done.label != "ok":
                return done
            other = self.rng.choice(self.world.nodes)
            undone = await other.call("POST", "accounts:undoMerge", {"mergeId": done.body["mergeId"]}, admin=True)
            if undone.label == "ok" and undone.body.get("leftProviders"):
                raise Violation(f"a merge undone at once left {undone.body['leftProviders']}")
            return undone

        def predict(s):
            def change(s, a):
                s.end_sessions(merged)
                # While they were one, a custom token of either signed in to both.
                s.accounts[kept].custom = s.accounts[merged].custom = s.accounts[kept].custom or s.accounts[merged].custom
                # What the docs leave open is tried no more.
                for uid in (kept, merged):
                    s.void_codes(uid, addresses=[s.accounts[uid].email])
                s.pending = {key: value for key, value in s.pending.items() if value[0] not in (kept, merged)}
                # If a clock puts one of them after the merge, all end with it, to be safe.
                for session, (uid, condition) in s.sessions.items():
                    if uid == kept and condition == "alive":
                        s.sessions[session] = (uid, "unknown")
            return "ok", change
        return Step(f"admin: merge {merged} into {kept}, and undo it", call, predict, concurrent=False)

    def admin_update(self, state):
        account = self.an_account(state)
        if account is None:
            return None
        uid = account.uid
        what = self.rng.choice(("disable", "enable", "enable", "validSince", "password", "verified", "unlink", "link", "claims"))
        refused = lambda s: None
        if account.disabled:
            what = "enable"
        if what in ("disable", "enable"):
            body = {"disableUser": what == "disable"}

            def change(s, account, a):
                account.disabled = what == "disable"
                if account.disabled:
                    for session, (owner, condition) in s.sessions.items():
                        if owner == uid and condition == "alive":
                            s.sessions[session] = (uid, "unknown")
        elif what == "validSince":
            body = {"validSince": str(int(time.time() + self.world.drift + 1))}
            # A sign-in at the same moment may already begin no earlier.
            self.latest_begin[uid] = max(int(body["validSince"]), self.latest_begin.get(uid, 0))

            def change(s, account, a):
                s.end_sessions(uid)
                s.void_codes(uid, ["VERIFY_AND_CHANGE_EMAIL"])
        elif what == "password":
            password = self.new_password()
            body = {"password": password}

            def change(s, account, a):
                account.password = password
                s.end_sessions(uid)
                s.void_codes(uid, ["VERIFY_AND_CHANGE_EMAIL"])
        elif what == "verified":
            verified = self.rng.random() < 0.7
            body = {"emailVerified": verified}

            def refused(s):
                account = s.accounts[uid]
                return "UNVERIFIED_EMAIL" if account.factors and not verified else None

            def change(s, account, a):
                account.verified = verified
                s.verified_changed(uid)
        elif what == "unlink":
            provider = self.rng.choice(self.PROVIDERS)
            body = {"deleteProvider": [provider]}
            change = lambda s, account, a: account.rows.pop(provider, None) and None
        elif what == "link":
            provider, subject, _, _ = self.identity()
            body = {"linkProviderUserInfo": {"providerId": provider, "rawId": subject}}

            def refused(s):
                owner = s.by_subject(provider, subject)
                if s.accounts[uid].rows.get(provider, subject) != subject:
                    return "PROVIDER_ALREADY_LINKED"
                if owner and owner.uid != uid:
                    return "FEDERATED_USER_ID_ALREADY_LINKED"

            def change(s, account, a):
                account.rows[provider] = subject
        else:
            body = {"customAttributes": '{"level":%d}' % self.serial}
            change = lambda s, account, a: None

        def predict(s):
            if uid not in s.accounts:
                return "USER_NOT_FOUND", None
            return refused(s) or "ok", lambda s, a: change(s, s.accounts[uid], a)
        return Step(f"admin: {what} {uid} {body}", lambda node: node.call(
            "POST", "accounts:update", {"localId": uid, **body}, admin=True), predict)

    def admin_delete(self, state):
        account = self.an_account(state)
        if account is None:
            return None
        uid = account.uid
        return Step(f"admin: delete {uid}", lambda node: node.call("POST", "accounts:delete", {"localId": uid}, admin=True),
                    lambda s: ("ok", lambda s, a: self.gone(s, uid)) if uid in s.accounts else ("USER_NOT_FOUND", None),
                    records=(uid, "ACCOUNT_DELETED"))

    def look_up_as_admin(self):
        """All accounts of the person, by id, by address, by number and by identity: there are no others."""
        body = {
            "localId": sorted(uid for uid in self.uids if uid)[-30:], "email": self.emails, "phoneNumber": [self.phone],
            "federatedUserId": [{"providerId": provider, "rawId": subject}
                                for provider, subjects in self.subjects.items() for subject in subjects],
        }

        def change(s, a):
            if a is None:
                return None
            users = {user["localId"]: user for user in a.body.get("users", [])}
            for uid in [uid for uid in s.accounts if uid.startswith("?")]:
                # Nobody was told its id.
                account = s.accounts[uid]
                found = [user for user in users.values() if user["localId"] not in s.accounts and (
                    account.email and user.get("email") == account.email
                    or account.phone and user.get("phoneNumber") == account.phone
                    or any(info.get("rawId") in account.rows.values() for info in user.get("providerUserInfo", ())))]
                if len(found) != 1:
                    return False
                self.rename_account(s, uid, found[0]["localId"])
            for user in users.values():
                since = int(user.get("validSince", 0))
                if since < self.valid_since.get(user["localId"], 0):
                    raise Violation(f"validSince of {user['localId']} went back to {since}")
                self.valid_since[user["localId"]] = since
                self.latest_begin[user["localId"]] = max(since, self.latest_begin.get(user["localId"], 0))
            if set(users) != {uid for uid in s.accounts}:
                return False
            return all(self.same(account, users[account.uid]) is not False for account in s.accounts.values()) or False
        return Step("admin: lookup", lambda node: node.call("POST", "accounts:lookup", body, admin=True),
                    lambda s: ("ok", change))

    def rename_account(self, state, old, new):
        account = state.accounts.pop(old)
        account.uid = new
        state.accounts[new] = account
        state.codes = {code: (value[0], new if value[1] == old else value[1], *value[2:])
                       for code, value in state.codes.items()}
        self.uids.add(new)

    def same(self, account, user):
        """Whether an answer's user is the model's account, which learns what its second factor is called."""
        if account is None:
            return False
        factors = frozenset(factor["mfaEnrollmentId"] for factor in user.get("mfaInfo", []))
        for old, new in zip(account.factors & self.unnamed.keys(), factors - account.factors):
            self.secrets[new], self.world.last_steps[new] = self.unnamed[old]
            account.factors = account.factors - {old} | {new}
        infos = user.get("providerUserInfo", [])
        methods = {f"{info['providerId']}={info['rawId']}" if info["providerId"].startswith("oidc.") else info["providerId"]
                   for info in infos} - {"emailLink"}
        seen = (user["localId"], user.get("email"), user.get("emailVerified", False), user.get("phoneNumber"),
                user.get("disabled", False), factors)
        expected = (account.uid, account.email, bool(account.verified and account.email), account.phone, account.disabled,
                    account.factors)
        return seen == expected and methods - {"password"} == account.methods - {"password"} \
            and ("password" in methods) == bool(account.email and (account.password or account.link))


CHOICES = {
    "sign_up": 4, "sign_up_as_guest": 2, "sign_in_with_password": 5, "sign_in_with_idp": 22, "link_with_idp": 8, "resume": 8,
    "sign_in_with_custom_token": 4, "send_code": 8, "use_code": 8, "sign_in_by_phone": 3, "set_password": 2, "unlink": 6,
    "rename": 3, "revoke_tokens": 2, "sign_out": 4, "delete": 1, "enrol": 2, "second_factor": 3, "withdraw": 1,
    "admin_create": 2, "admin_import": 1, "admin_merge": 1, "admin_update": 7, "admin_delete": 3,
}
Person.NAMES, Person.WEIGHTS = list(CHOICES), list(CHOICES.values())
