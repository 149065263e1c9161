#!/usr/bin/env python3
"""Replays what terraform-provider-google sends for google_identity_platform_*, and judges the answers as it would: each of
its acceptance tests is applied, planned, changed, imported and destroyed; a plan after an apply must be empty.

    replay.py                   the program of IDENTITY_PROGRAM, else the packaged one, with `identity dev`; projects are made
                                with `identity projects create`
    replay.py --first-use       projects from their first use, which have `identity dev`'s own settings
    BASE_URL=URL replay.py --first-use          a running one ("Bearer owner", or TOKEN=…)
    --only TEXT, --verbose (every request), --list

Python's standard library only. The model was written from the sources of hashicorp/terraform-provider-google
(google/services/identityplatform, tpgresource, transport; main of 2026-08-21, e03b7622) and of terraform-plugin-sdk v2;
it contains none of their code.

Lines: `ok name`, `FAULT name: sent …, expected …, got …`, `decided name: …` (of DECIDED) and `note name: …` (what is the
provider's own doing, or only of interest). Exit code 1 if there is a FAULT.
"""
import argparse, base64, copy, datetime, gzip, http.client, json, os, random, re, shutil, signal, string, subprocess, sys
import tempfile, threading, time, urllib.parse

# What is refused or hidden by decision (docs/guide/terraform.md), by the names of cases.
DECIDED = [
    (r"/client_secret$", "secrets are never shown"),
    (r"DefaultSupportedIdpConfig.*/basic/apply$|^idp_id\.(playgames\.google\.com|gc\.apple\.com)/", "not supported"),
    (r"OauthIdpConfig.*/basic/apply$", "an issuer is an https URL"),
    (r"^mfa\..*mandatory/", "MANDATORY is not supported"),
]

# --- HTTP as transport.SendRequest does it -----------------------------------------------------------------------------


class Failed(Exception):
    """The provider returns an error to Terraform."""

    def __init__(self, message, code=0):
        super().__init__(message)
        self.code = code


class Wire:
    def __init__(self, base, token, prefix="/v2/", verbose=False):
        url = urllib.parse.urlsplit(base)
        self.host, self.port, self.prefix = url.hostname, url.port, url.path.rstrip("/") + prefix
        self.token, self.verbose, self.log, self.headers = token, verbose, [], {}

    def send(self, method, path, query=(), body=None):
        """The answer's object, None for 204; Failed for other codes than 2xx, as googleapi.CheckResponse."""
        # AddQueryParams: alt=json is added last, and Encode sorts.
        pairs = sorted(dict(query, alt="json").items())
        target = self.prefix + path + "?" + urllib.parse.urlencode(pairs)
        data = None
        if body is not None:
            # json.NewEncoder: sorted keys, <>& escaped, a newline at the end.
            text = json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=False) + "\n"
            for c in "<>&":
                text = text.replace(c, "\\u%04x" % ord(c))
            data = text.encode()
        for attempt in range(5):
            c = http.client.HTTPConnection(self.host, self.port, timeout=30)
            c.putrequest(method, target, skip_accept_encoding=True)
            c.putheader("User-Agent", "Terraform/1.13.3 (+https://www.terraform.io) Terraform-Plugin-SDK/2.38.1 "
                                      "terraform-provider-google/dev")
            c.putheader("Content-Type", "application/json")  # of every request, also of those without a body
            c.putheader("Authorization", "Bearer " + self.token)
            c.putheader("Accept-Encoding", "gzip")
            for k, v in self.headers.items():
                c.putheader(k, v)
            if data is not None:
                c.putheader("Content-Length", str(len(data)))
            elif method in ("POST", "PUT", "PATCH"):
                c.putheader("Content-Length", "0")  # net/http: not for GET and DELETE
            c.endheaders(data)
            r = c.getresponse()
            raw = r.read()
            if r.getheader("Content-Encoding") == "gzip":
                raw = gzip.decompress(raw)
            c.close()
            if r.status not in (429, 502, 503, 504):
                break
            time.sleep(0.5)
        entry = dict(method=method, target=target, body=None if body is None else data.decode().strip(),
                     status=r.status, answer=raw.decode("utf-8", "replace"))
        self.log.append(entry)
        if self.verbose:
            print("   >", method, target, entry["body"] or "")
            print("   <", r.status, short(strip_own(entry["answer"]), 1500))
        if not 200 <= r.status < 300:
            message = entry["answer"]
            try:
                error = json.loads(raw)["error"]
                message = "googleapi: Error %s: %s" % (error["code"], error["message"])
            except Exception:
                pass
            raise Failed("%s (HTTP %d)" % (message, r.status), r.status)
        if r.status == 204:
            return None
        try:
            answer = json.loads(raw)
        except ValueError:
            raise Failed("the body is not JSON: %r" % raw[:200])
        if not isinstance(answer, dict):
            raise Failed("the body is not a JSON object: %r" % raw[:200])
        return answer

    def last(self, *methods):
        for e in reversed(self.log):
            if not methods or e["method"] in methods:
                return e


def strip_own(text):
    """`identity` in a project's config is this service's own, long, and nothing to the provider."""
    try:
        o = json.loads(text)
        if isinstance(o, dict) and "identity" in o:
            o["identity"] = "…"
            return json.dumps(o, separators=(",", ":"), ensure_ascii=False)
    except ValueError:
        pass
    return text


def short(text, n=600):
    text = re.sub(r"-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----(\\n|\n)?", "«PEM»", text, flags=re.S)
    return text if len(text) <= n else text[:n] + "…"


# --- The schemas ---------------------------------------------------------------------------------------------------------
#
# kind     bool, int, str; strs (list of strings); map (string to string); one (a block, MaxItems 1); many (a list of
#          blocks); triggers (the set of blocking functions, a map on the wire)
# flatten  of a block: plain: absent or {} is no block. present: absent is no block, {} is one of zero values.
#          always: absent is a block of zero values. (Custom flatteners of the provider.)
# keep     the custom expander sends it even if it is empty


class F:
    def __init__(self, kind, api=None, computed=False, new=False, fields=None, flatten="plain", keep=False, last=False,
                 url_only=False, readonly=False):
        self.kind, self.api, self.computed, self.new, self.fields = kind, api, computed, new, fields
        self.flatten, self.keep, self.last, self.url_only, self.readonly = flatten, keep, last, url_only, readonly

    @property
    def zero(self):
        return {"bool": False, "int": 0, "str": "", "strs": [], "map": {}, "one": [], "many": [], "triggers": []}[self.kind]

    @property
    def is_block(self):
        return self.kind in ("one", "many")


def B(api, **k): return F("bool", api, **k)
def I(api, **k): return F("int", api, **k)
def S(api, **k): return F("str", api, **k)
def L(api, **k): return F("strs", api, **k)
def one(api, fields, **k): return F("one", api, fields=fields, **k)
def many(api, fields, **k): return F("many", api, fields=fields, **k)


PERMISSIONS = {"disabled_user_signup": B("disabledUserSignup"), "disabled_user_deletion": B("disabledUserDeletion")}

CONFIG = {
    "name": S("name", computed=True, readonly=True),
    "autodelete_anonymous_users": B("autodeleteAnonymousUsers"),
    "sign_in": one("signIn", {
        "email": one("email", {"enabled": B("enabled"), "password_required": B("passwordRequired")}, flatten="always"),
        "phone_number": one("phoneNumber", {"enabled": B("enabled"), "test_phone_numbers": F("map", "testPhoneNumbers")},
                            flatten="always"),
        "anonymous": one("anonymous", {"enabled": B("enabled", keep=True)}, flatten="present"),
        "allow_duplicate_emails": B("allowDuplicateEmails"),
        "hash_config": one("hashConfig", {"algorithm": S("algorithm", computed=True), "signer_key": S("signerKey", computed=True),
                                          "salt_separator": S("saltSeparator", computed=True), "rounds": I("rounds", computed=True),
                                          "memory_cost": I("memoryCost", computed=True)}, computed=True, readonly=True),
    }, computed=True),
    "blocking_functions": one("blockingFunctions", {
        "triggers": F("triggers", "triggers"),
        "forward_inbound_credentials": one("forwardInboundCredentials", {
            "id_token": B("idToken"), "access_token": B("accessToken"), "refresh_token": B("refreshToken")}, flatten="always"),
    }),
    "quota": one("quota", {"sign_up_quota_config": one("signUpQuotaConfig", {
        "quota": I("quota"), "start_time": S("startTime"), "quota_duration": S("quotaDuration")})}),
    "authorized_domains": L("authorizedDomains", computed=True),
    "sms_region_config": one("smsRegionConfig", {
        "allow_by_default": one("allowByDefault", {"disallowed_regions": L("disallowedRegions")}),
        "allowlist_only": one("allowlistOnly", {"allowed_regions": L("allowedRegions")})}, computed=True),
    "client": one("client", {"permissions": one("permissions", PERMISSIONS, flatten="present"),
                             "api_key": S("apiKey", computed=True),
                             "firebase_subdomain": S("firebaseSubdomain", computed=True)}, computed=True),
    "mfa": one("mfa", {
        "state": S("state", computed=True), "enabled_providers": L("enabledProviders"),
        "provider_configs": many("providerConfigs", {
            "state": S("state", computed=True),
            "totp_provider_config": one("totpProviderConfig", {"adjacent_intervals": I("adjacentIntervals")})})}, computed=True),
    "multi_tenant": one("multiTenant", {"allow_tenants": B("allowTenants"), "default_tenant_location": S("defaultTenantLocation")},
                        flatten="present"),
    "monitoring": one("monitoring", {"request_logging": one("requestLogging", {"enabled": B("enabled", keep=True)},
                                                            flatten="present", keep=True)}, computed=True),
}

TENANT = {
    "name": S("name", computed=True, last=True, readonly=True),
    "display_name": S("displayName"), "allow_password_signup": B("allowPasswordSignup"),
    "enable_email_link_signin": B("enableEmailLinkSignin"), "disable_auth": B("disableAuth"),
    "client": one("client", {"permissions": one("permissions", PERMISSIONS)}),
}

IN_TENANT = {"tenant": S(None, new=True, url_only=True)}

DEFAULT = {
    "name": S("name", computed=True, readonly=True), "idp_id": S(None, new=True, url_only=True),
    "client_id": S("clientId"), "client_secret": S("clientSecret"), "enabled": B("enabled"),
}

OAUTH = {
    "name": S("name", new=True, last=True), "display_name": S("displayName"), "enabled": B("enabled"), "issuer": S("issuer"),
    "client_id": S("clientId"), "client_secret": S("clientSecret"),
    "response_type": one("responseType", {"id_token": B("idToken"), "code": B("code")}),
}

CERTIFICATE = {"x509_certificate": S("x509Certificate")}

SAML = {
    "name": S("name", new=True, last=True), "display_name": S("displayName"), "enabled": B("enabled"),
    "idp_config": one("idpConfig", {"idp_entity_id": S("idpEntityId"), "sso_url": S("ssoUrl"), "sign_request": B("signRequest"),
                                    "idp_certificates": many("idpCertificates", CERTIFICATE)}),
    "sp_config": one("spConfig", {
        "sp_entity_id": S("spEntityId"), "callback_uri": S("callbackUri"),
        "sp_certificates": many("spCertificates", {"x509_certificate": S("x509Certificate", computed=True)}, computed=True,
                                readonly=True)}),
}


class Kind:
    def __init__(self, type_name, fields, collection="", query="", key=""):
        self.type, self.fields, self.collection, self.query, self.key = type_name, fields, collection, query, key


P = "google_identity_platform_"
KINDS = {k.type[len(P):]: k for k in [
    Kind(P + "config", CONFIG),
    Kind(P + "tenant", TENANT, "tenants", "", "name"),
    Kind(P + "default_supported_idp_config", DEFAULT, "defaultSupportedIdpConfigs", "idpId", "idp_id"),
    Kind(P + "oauth_idp_config", OAUTH, "oauthIdpConfigs", "oauthIdpConfigId", "name"),
    Kind(P + "inbound_saml_config", SAML, "inboundSamlConfigs", "inboundSamlConfigId", "name"),
    Kind(P + "tenant_default_supported_idp_config", dict(DEFAULT, **IN_TENANT), "tenants/{tenant}/defaultSupportedIdpConfigs",
         "idpId", "idp_id"),
    Kind(P + "tenant_oauth_idp_config", dict({k: v for k, v in OAUTH.items() if k != "response_type"}, **IN_TENANT),
         "tenants/{tenant}/oauthIdpConfigs", "oauthIdpConfigId", "name"),
    Kind(P + "tenant_inbound_saml_config", dict(SAML, **IN_TENANT), "tenants/{tenant}/inboundSamlConfigs",
         "inboundSamlConfigId", "name"),
]}

# --- Flatten: an answer to state ---------------------------------------------------------------------------------------


def flatten_one(f, v, path):
    """d.Set: nil is the zero value; a value of another type is an error."""
    def wrong(): raise Failed("Error reading: %s: the provider expects %s, the answer has %s" % (path, f.kind, json.dumps(v)))
    if f.kind in ("bool", "str", "int"):
        if v is None:
            return f.zero
        if f.kind == "int":
            if isinstance(v, str) and re.fullmatch(r"-?\d+", v):
                return int(v)  # StringToFixed64
            if isinstance(v, bool) or not isinstance(v, (int, float)):
                wrong()
            return int(v)
        if not isinstance(v, {"bool": bool, "str": str}[f.kind]):
            wrong()
        return v.rsplit("/", 1)[-1] if f.last else v
    if f.kind == "strs":
        if v is None:
            return []
        if not isinstance(v, list) or not all(isinstance(e, str) for e in v):
            wrong()
        return list(v)
    if f.kind == "map":
        if v is None:
            return {}
        if not isinstance(v, dict) or not all(isinstance(e, str) for e in v.values()):
            wrong()
        return dict(v)
    if f.kind == "triggers":
        if v is None:
            return []
        if not isinstance(v, dict):
            wrong()
        return [{"event_type": k, "function_uri": e.get("functionUri") or "", "update_time": e.get("updateTime") or ""}
                for k, e in v.items()]
    if f.kind == "many":
        if v is None:
            return []
        if not isinstance(v, list) or not all(isinstance(e, dict) for e in v):
            wrong()
        return [flatten(f.fields, e, path) for e in v if e]  # empty objects are skipped
    if v is not None and not isinstance(v, dict):
        wrong()
    if v is None:
        return [flatten(f.fields, {}, path)] if f.flatten == "always" else []
    if not v and f.flatten == "plain":
        return []
    return [flatten(f.fields, v, path)]


def flatten(fields, answer, path=""):
    return {k: flatten_one(f, answer.get(f.api), path + "." + k if path else k) for k, f in fields.items() if not f.url_only}


# --- Plan --------------------------------------------------------------------------------------------------------------


def planned(fields, config, prior):
    """What Terraform plans: the configuration, and the prior state where an attribute is computed and not configured."""
    out = {}
    for k, f in fields.items():
        c, p = config.get(k), (prior or {}).get(k, f.zero)
        if f.kind == "triggers":
            if c is None:
                out[k] = p if f.computed else []
            else:
                # Core takes the computed update_time of an equal element of the prior set.
                times = {(e["event_type"], e["function_uri"]): e["update_time"] for e in p}
                out[k] = [dict(e, update_time=times.get((e["event_type"], e["function_uri"]), "")) for e in c]
        elif f.is_block:
            if c is None:
                out[k] = copy.deepcopy(p) if f.computed else []
            else:
                out[k] = []
                for i, e in enumerate(c):
                    before = p[i] if i < len(p) else None
                    v = planned(f.fields, e, before)
                    if not e and before is None:
                        v["—"] = True  # `block {}`: the expanders get nil for it
                    out[k].append(v)
        else:
            out[k] = c if c is not None else (p if f.computed else f.zero)
    return out


def differences(fields, a, b, path=""):
    """The attributes in which prior state and plan differ, as helper/schema finds them: (path, prior, planned, new)."""
    out = []
    for k, f in fields.items():
        x, y, at = a.get(k, f.zero), b.get(k, f.zero), path + k
        if f.kind == "triggers":
            xs = sorted((e["event_type"], e["function_uri"]) for e in x)
            ys = sorted((e["event_type"], e["function_uri"]) for e in y)
            if xs != ys:
                out.append((at, x, y, f.new))
        elif f.is_block:
            if len(x) != len(y):
                out.append((at + ".#", len(x), len(y), f.new))
            for i in range(max(len(x), len(y))):
                out += differences(f.fields, x[i] if i < len(x) else {}, y[i] if i < len(y) else {}, "%s.%d." % (at, i))
        elif x != y:
            out.append((at, x, y, f.new))
    return out


def is_empty(v):
    return v is None or v is False or v == 0 or v == "" or v == [] or v == {}


def expand_one(f, v):
    if f.kind == "one":
        if not v or v[0].get("—"):
            return None
        return expand(f.fields, v[0])
    if f.kind == "many":
        return [expand(f.fields, e) for e in v]
    if f.kind == "triggers":
        return {e["event_type"]: {k: w for k, w in (("functionUri", e["function_uri"]), ("updateTime", e["update_time"])) if w}
                for e in v}
    return v


def expand(fields, values):
    out = {}
    for k, f in fields.items():
        e = expand_one(f, values.get(k, f.zero))
        if f.keep or not is_empty(e):
            out[f.api] = e
    return out


def flatmap(fields, state, path=""):
    out = {}
    for k, f in fields.items():
        v, at = state.get(k, f.zero), path + k
        if f.kind == "triggers":
            for e in v:
                out[at + "." + e["event_type"]] = json.dumps(e, sort_keys=True)
        elif f.is_block:
            for i, e in enumerate(v):
                out.update(flatmap(f.fields, e, "%s.%d." % (at, i)))
            if v:
                out[at + ".#"] = str(len(v))
        elif f.kind in ("strs", "map"):
            for i, e in (enumerate(v) if f.kind == "strs" else v.items()):
                out["%s.%s" % (at, i)] = e
        else:
            out[at] = json.dumps(v)
    return out


# --- A resource: create, read, update, delete, import ---------------------------------------------------------------


class Resource:
    """One resource and its state. `fix` may change a request's body: for what a service refuses on purpose."""

    def __init__(self, wire, kind, project, fix=None):
        self.wire, self.kind, self.project, self.fix, self.state = wire, KINDS[kind], project, fix, None

    @property
    def is_config(self): return not self.kind.collection

    def path(self, config, one=True):
        p = "projects/" + self.project
        if self.is_config:
            return p + "/config"
        p += "/" + self.kind.collection.replace("{tenant}", config.get("tenant", ""))
        return p + "/" + config[self.kind.key] if one else p

    def send(self, method, path, query=(), body=None):
        if self.fix and body is not None:
            body = self.fix(copy.deepcopy(body))
        return self.wire.send(method, path, query, body)

    def read(self):
        """Read: refreshes the state; None if the resource is gone (404)."""
        try:
            answer = self.wire.send("GET", self.path(self.state))
        except Failed as e:
            if e.code == 404:
                self.state = None
                return None
            raise
        urls = {k: self.state[k] for k, f in self.kind.fields.items() if f.url_only}
        self.state = dict(flatten(self.kind.fields, answer), **urls)
        return answer

    def plan(self, config, ignore=()):
        prior = self.state or {}
        config = dict(config, **{k: prior.get(k) for k in ignore if self.state is not None})  # lifecycle.ignore_changes
        want = planned(self.kind.fields, config, self.state)
        return want, differences(self.kind.fields, {k: prior.get(k, f.zero) for k, f in self.kind.fields.items()}, want)

    def apply(self, config, ignore=()):
        want, diff = self.plan(config, ignore)
        if self.state is not None and any(d[3] for d in diff):
            self.delete()
            want = self.plan(config)[0]
        if self.state is None:
            self.create(want)
        elif diff:
            self.update(want)
        return diff

    def create(self, want):
        if self.is_config:
            answer = self.send("POST", "projects/%s/identityPlatform:initializeAuth" % self.project)
            self.state = {k: f.zero for k, f in self.kind.fields.items()}
            self.state["name"] = flatten_one(self.kind.fields["name"], (answer or {}).get("name"), "name")
            self.update(want)
        else:
            body = {}
            for k, f in self.kind.fields.items():
                if not f.url_only and not f.readonly:
                    e = expand_one(f, want[k])
                    if not is_empty(e):
                        body[f.api] = e
            query = {self.kind.query: want[self.kind.key]} if self.kind.query else {}
            answer = self.send("POST", self.path(want, one=False), query, body)
            self.state = {k: want[k] for k, f in self.kind.fields.items() if f.url_only or k == self.kind.key}
            if self.kind.key == "name" and self.kind.fields["name"].readonly:
                if not (answer or {}).get("name"):
                    raise Failed("Create response didn't contain critical fields: no name in %s" % json.dumps(answer))
                self.state["name"] = flatten_one(self.kind.fields["name"], answer["name"], "name")
        if self.read() is None:
            raise Failed("Read after create: 404. Provider produced inconsistent result after apply: root object was present, "
                         "but now absent.")

    def update(self, want):
        body, mask = {}, []
        for k, f in self.kind.fields.items():
            if f.url_only or f.readonly or f.new:
                continue
            if not is_empty(want[k]):
                body[f.api] = expand_one(f, want[k])
            if differences({k: f}, self.state, want):
                mask.append(f.api)
        if mask:
            self.send("PATCH", self.path(self.state), {"updateMask": ",".join(mask)}, body)
        if self.read() is None:
            raise Failed("Read after update: 404")

    def delete(self):
        if not self.is_config:
            try:
                self.wire.send("DELETE", self.path(self.state))
            except Failed as e:
                if e.code != 404:
                    raise
        self.state = None

    def imported(self):
        """terraform import: what the ID has, then Read."""
        other = Resource(self.wire, self.kind.type[len(P):], self.project)
        other.state = {k: self.state[k] for k, f in self.kind.fields.items() if f.url_only or k == self.kind.key}
        if other.read() is None:
            raise Failed("Cannot import non-existent remote object")
        return other.state


# --- The program and its projects ---------------------------------------------------------------------------------------


class Service:
    def __init__(self, made):
        self.url, self.made, self.process, self.data = os.environ.get("BASE_URL"), made, None, None
        self.binary = os.environ.get("IDENTITY_PROGRAM") or ".build/dist/program/identity"
        if self.url:
            return
        args = [self.binary, "dev", "--port", "0"]
        if made:
            self.data = tempfile.mkdtemp(prefix="replay-")
            args += ["--data", self.data + "/d", "--demo-providers", "none"]
        else:
            args += ["--ephemeral"]
        self.process = subprocess.Popen(args, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        for line in self.process.stdout:
            if line.startswith("ready "):
                self.url = line.split()[1]
                break
        else:
            sys.exit("%s ended before it was ready" % " ".join(args))
        # Its log: read, or it blocks when the pipe is full.
        threading.Thread(target=lambda: [0 for _ in self.process.stdout], daemon=True).start()

    def project(self):
        name = "tf-test-" + "".join(random.choices(string.ascii_lowercase + string.digits, k=10))
        if self.made:
            if not self.data:
                sys.exit("without --first-use the program is started here: unset BASE_URL")
            subprocess.run([self.binary, "projects", "create", "--data", self.data + "/d", name], check=True, capture_output=True)
        return name

    def stop(self):
        if self.process:
            self.process.send_signal(signal.SIGINT)
            try:
                self.process.wait(30)
            except subprocess.TimeoutExpired:
                self.process.kill()
        if self.data:
            shutil.rmtree(self.data, ignore_errors=True)

# --- Judging -------------------------------------------------------------------------------------------------------------

CERTIFICATES = ["""-----BEGIN CERTIFICATE-----
MIICsjCCAZqgAwIBAgIULT4XiyUGJmbA7uTvCyhTlv4vn9MwDQYJKoZIhvcNAQEL
BQAwEjEQMA4GA1UEAwwHdW51c2VkMTAgFw0xODAxMjAwMDAwMDBaGA80NzU1MTIx
MTAwMDAwMFowEjEQMA4GA1UEAwwHdW51c2VkMTCCASIwDQYJKoZIhvcNAQEBBQAD
ggEPADCCAQoCggEBALkXuYKKOGG1OUPSaLwqTjsiBBp1Eeuwl3KE8IEi2gN7ZAyh
77DkUVAKIhWYkSclfOd5lbEcuZH6KY6Z2nWLWB+SCB069dP7bwLlgDgdkisih9jW
3JXGVM2WVc7qA6szD6sS61r0IHnLNIn1rbyaniRPaH3xGXMAgaijD0qv9Jr1Ldo9
msZGSwVfWCBg4oKRvZyQfpxLl4asKZF6ax2hEt2mg5/M0chDBh1cvDKzhAaJJQzW
2obYXwFq9Yj5/bzgoVva2ori3V2UaOfN339Gyied+cFD+e8wcE/sYOLm1KYO7ggn
kAqzTmLcUfl9HyEHosrK0uNE70WzzITf8CMLMhsCAwEAATANBgkqhkiG9w0BAQsF
AAOCAQEAW3LYUBNWeFnv1N6IDv+thye/oYdwSYCvUBoZPb8y4Cz1LNzVSX344qdc
RDNIenFwtd7T7HjND/IpwcwROEKLObFCvePSKLn+KNZW0hQcBMN3SRDvpuaMeT2q
yX2omtiOKkaxN+QIxOypgEv1A7py4iRANwBYj0K8eLy9vxKezPxdRzUIg4DLGdEU
eo4nO2ZPFQYn59FwWjli17ritUIPJGTc+OueNJGRFXMXeObrguQM3kYQm7PybprU
aliqH4WH+FAp+sEIt9Yh9WGbivwsEtk+vFoVgcqVcLLLXfn54RmIU0/9WHZpIzX2
1rWijTbg3J72MK36jjv+389VhKrIvA==
-----END CERTIFICATE-----
""", """-----BEGIN CERTIFICATE-----
MIICsjCCAZqgAwIBAgIUZ9yxHAVAftUNoyU2O5bwC+1Qsg8wDQYJKoZIhvcNAQEL
BQAwEjEQMA4GA1UEAwwHdW51c2VkMjAgFw0xODAxMjAwMDAwMDBaGA80NzU1MTIx
MTAwMDAwMFowEjEQMA4GA1UEAwwHdW51c2VkMjCCASIwDQYJKoZIhvcNAQEBBQAD
ggEPADCCAQoCggEBAMEW6b312XvoFWHPz4qBhei/IEMUa2aSy/u4rjKF7fMtjG3D
pHRpfIGeBBNmwrZIwEqegToNU08tyiv4CeQpETPwoC+VBoSszjO1dBc43Okmr4r1
DBO1x/XOKDRPMlwMlxxrGNQOksA135UPr3T0vsnDbW2JF874M6IcswIRJ9tcizSw
ZLVXEaGMJZLZrH7VjA1TsROROtdhpi1SHY4zatU2mVkV3DSldtX81Ib5goBiY1VH
FUFiMrQ/JXWhOd1qaI1Xy/Pd6y/KwcNeLKO9tnbVCD0+X0AwcpOU4VxzD7QZaP5a
XYw90kEvD8+GWsejY/nsYjJCpUrzXbZ0TOzKw9cCAwEAATANBgkqhkiG9w0BAQsF
AAOCAQEAtBDKLJ3GMUi8peVlhQndBoZzhegD3YJz2MCeiF/V9XHfaekqmwMmcfae
hB8QZJCMTx/H9cdyL/WvAgt78KzUf93VFrjJ3lV12SpyxJB2l3mBS0+/6wNYaXgc
i4DPYcxAayU6IOVy2ASrTRZFK3Gc5ZD7jXxqOmR4rbJ6FjuG002amLUjBWpAZ6q9
73lAO3zs91a5kIg3fl49RV79979sQ6n9hZ/R+N1fwfxS5t0e/X4ZTNI0w6I86pm9
QHouQ1Whhg8QwOPcBU5QQ6u0i7hr+p6e1F1CMrojkmWesJ2a0FdpdiApAviABfre
bqZqlEE+GcSDbPPiWqq/L/thPVtAqQ==
-----END CERTIFICATE-----
"""]

totals = {"ok": 0, "FAULT": 0, "decided": 0, "note": 0}
faults = []


def ok(name):
    totals["ok"] += 1
    print("ok", name, flush=True)


def note(name, text):
    totals["note"] += 1
    print("note %s: %s" % (name, text), flush=True)


def fault(name, sent, expected, got, secret=False):
    reason = next((reason for pattern, reason in DECIDED if re.search(pattern, name)), None)
    if reason:
        totals["decided"] += 1
        return print("decided %s: %s" % (name, reason), flush=True)
    totals["FAULT"] += 1
    faults.append(name)
    print("FAULT %s: sent %s, expected %s, got %s" % (name, sent, expected, got), flush=True)


def request(e):
    return short("%s %s%s" % (e["method"], urllib.parse.unquote(e["target"]), " " + e["body"] if e["body"] else ""), 900)


def answer(e):
    return "%d %s" % (e["status"], short(strip_own(e["answer"])))


def member(wire, resource, diff):
    """The members of the last GET's answer that the differences are about."""
    e = wire.last("GET")
    try:
        o = json.loads(e["answer"])
    except ValueError:
        return answer(e)
    names = {resource.kind.fields[re.split(r"[.]", d[0])[0]].api for d in diff} - {None}
    return "GET %s → %s" % (urllib.parse.unquote(e["target"]),
                            short(json.dumps({n: o.get(n, "(absent)") for n in sorted(names)}, ensure_ascii=False)))


def told(diff):
    return "; ".join("%s: %s → %s" % (d[0], short(json.dumps(d[1]), 120), short(json.dumps(d[2]), 120)) for d in diff)


class Story:
    """A test: configurations applied in turn, each with an empty plan and an import after it; then destroy."""

    def __init__(self, name, wire, kind, project, ignore_import=(), fix=None, ignore_changes=()):
        self.name, self.wire = name, wire
        self.resource = Resource(wire, kind, project, fix)
        self.ignore_import, self.ignore_changes, self.told_secret = ignore_import, ignore_changes, False
        self.masks = None

    def step(self, label, config):
        """False if the story cannot go on."""
        r, w, at = self.resource, self.wire, "%s/%s" % (self.name, label)
        start = len(w.log)
        try:
            r.apply(config, self.ignore_changes)
        except Failed as e:
            bad = next((x for x in reversed(w.log[start:]) if not 200 <= x["status"] < 300), w.log[-1])
            fault(at + "/apply", request(bad), "2xx", "%s: %s" % (answer(bad), e) if str(e)[:9] != "googleapi" else answer(bad))
            return False
        changes = [x for x in w.log[start:] if x["method"] != "GET"]
        ok(at + "/apply")
        self.plan(at, config, changes)
        self.importing(at)
        return True

    def plan(self, at, config, changes=()):
        r, w = self.resource, self.wire
        sent = "; ".join(map(request, changes)) or "nothing"
        for again in ("", "-again"):
            try:
                gone = r.read() is None
            except Failed as e:
                fault(at + "/plan" + again, sent, "a GET that reads", str(e))
                return
            if gone:
                fault(at + "/plan" + again, sent, "the resource", "404 of GET")
                return
            diff = r.plan(config, self.ignore_changes)[1]
            secrets = [d for d in diff if d[0] == "client_secret"]
            rest = [d for d in diff if d[0] != "client_secret"]
            if secrets and not self.told_secret:
                self.told_secret = True
                fault(self.name + "/client_secret", sent, "an empty plan", "%s; plan: ~ client_secret: %s → (configured)" %
                      (member(w, r, secrets), json.dumps(secrets[0][1])), secret=True)
            if rest:
                got = "%s; plan: %s" % (member(w, r, rest), told(rest))
                start = len(w.log)
                try:
                    r.apply(config, self.ignore_changes)
                    r.read()
                    left = [d for d in r.plan(config, self.ignore_changes)[1] if d[0] != "client_secret"]
                    second = next((x for x in w.log[start:] if x["method"] == "PATCH"), None)
                    got += "; a second apply sends %s and %s" % (request(second) if second else "nothing",
                                                               "leaves " + told(left) if left else "settles it")
                except Failed as e:
                    got += "; a second apply fails: %s" % e
                fault(at + "/plan" + again, sent, "an empty plan", got)
                return
        ok(at + "/plan")

    def importing(self, at):
        r = self.resource
        try:
            other = r.imported()
        except Failed as e:
            fault(at + "/import", request(self.wire.last()), "2xx", str(e))
            return
        keep = lambda m: {k: v for k, v in m.items() if not any(k.startswith(i) for i in self.ignore_import)}
        a, b = keep(flatmap(r.kind.fields, r.state)), keep(flatmap(r.kind.fields, other))
        if a == b:
            ok(at + "/import")
        else:
            fault(at + "/import", request(self.wire.last()), "the state %s" % {k: v for k, v in a.items() if b.get(k) != v},
                  str({k: v for k, v in b.items() if a.get(k) != v}))

    def destroy(self):
        r, w, at = self.resource, self.wire, self.name + "/destroy"
        if r.is_config or r.state is None:
            return
        path = r.path(r.state)
        start = len(w.log)
        try:
            r.delete()
        except Failed as e:
            fault(at, request(w.log[-1]), "2xx with a JSON object, 204 or 404", answer(w.log[-1]))
            return
        if w.log[start]["status"] == 404:
            fault(at, request(w.log[start]), "2xx", answer(w.log[start]))
        self.gone(path, at)

    def gone(self, path, at):
        w = self.wire
        try:
            w.send("GET", path)
            fault(at, request(w.log[-1]), "an error (CheckDestroy)", answer(w.log[-1]))
        except Failed as e:
            if e.code == 404:
                ok(at)
            else:
                fault(at, request(w.log[-1]), "404 (HandleNotFoundError)", answer(w.log[-1]))


def run(name, wire, kind, project, configs, ignore_import=(), fix=None, destroy=True, ignore_changes=()):
    s = Story(name, wire, kind, project, ignore_import, fix, ignore_changes)
    for label, config in configs:
        if not s.step(label, config):
            break
    if destroy:
        s.destroy()
    return s


def tomorrow(zone="Z"):
    return (datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(days=1)).strftime("%Y-%m-%dT%H:%M:%S") + zone


# --- The acceptance tests -----------------------------------------------------------------------------------------------

KEYS = ("client.0.api_key", "client.0.firebase_subdomain")


def blk(**k):
    return [k]


def permissions(signup, deletion):
    return blk(permissions=blk(disabled_user_signup=signup, disabled_user_deletion=deletion))


def mfa_totp(state="ENABLED", adjacent=3, totp="ENABLED"):
    return blk(enabled_providers=["PHONE_SMS"], state=state,
               provider_configs=blk(state=totp, totp_provider_config=blk(adjacent_intervals=adjacent)))


def monitoring(on):
    return blk(request_logging=blk(enabled=on))


def sign_in(anonymous=None, email=None, phone=None, duplicate=None):
    out = {}
    if anonymous is not None:
        out["anonymous"] = blk(enabled=anonymous)
    if email is not None:
        out["email"] = [dict(zip(("enabled", "password_required"), email))]
    if phone is not None:
        out["phone_number"] = [dict(zip(("enabled", "test_phone_numbers"), phone))]
    if duplicate is not None:
        out["allow_duplicate_emails"] = duplicate
    return [out]


def trigger(event, uri):
    return {"event_type": event, "function_uri": uri}


def forward(on):
    return blk(refresh_token=on, access_token=on, id_token=on)


def function(project, name="before-sign-in"):
    return "https://us-east1-%s.cloudfunctions.net/%s" % (project, name)


def config_basic(p):
    return dict(
        autodelete_anonymous_users=True,
        sign_in=sign_in(True, (True, False), (True, {"+11231231234": "000000"}), True),
        sms_region_config=blk(allowlist_only=blk(allowed_regions=["US", "CA"])),
        blocking_functions=blk(triggers=[trigger("beforeSignIn", function(p))], forward_inbound_credentials=forward(True)),
        quota=blk(sign_up_quota_config=blk(quota=1000, start_time=tomorrow(), quota_duration="7200s")),
        authorized_domains=["localhost", p + ".firebaseapp.com", p + ".web.app"])


def quota_as_string(body):
    q = ((body.get("quota") or {}).get("signUpQuotaConfig") or {})
    if isinstance(q.get("quota"), int):
        q["quota"] = str(q["quota"])
    return body


def config_minimal(p):
    return dict(client=permissions(True, False), mfa=mfa_totp(), monitoring=monitoring(True),
                multi_tenant=blk(allow_tenants=True, default_tenant_location="organizations/123456789"))


def config_false(p):
    return dict(
        autodelete_anonymous_users=False,
        sign_in=sign_in(False, (False,), (False,), False),
        blocking_functions=blk(triggers=[trigger("beforeSignIn", function(p))], forward_inbound_credentials=forward(False)),
        client=permissions(False, False), multi_tenant=blk(allow_tenants=False), monitoring=monitoring(False))


def config_update(p):
    first = dict(
        autodelete_anonymous_users=True,
        sign_in=sign_in(True, (True, False), (True, {"+11231231234": "000000"}), True),
        sms_region_config=blk(allow_by_default=blk(disallowed_regions=["CA", "US"])),
        client=permissions(True, True), mfa=mfa_totp(), monitoring=monitoring(True),
        multi_tenant=blk(allow_tenants=True, default_tenant_location="organizations/123456789"))
    last = dict(
        sign_in=sign_in(False, (True, True), (True, {"+17651212343": "111111"}), False),
        sms_region_config=blk(allowlist_only=blk(allowed_regions=["AU", "NZ"])),
        client=permissions(False, False), mfa=blk(enabled_providers=["PHONE_SMS"], state="DISABLED"),
        monitoring=monitoring(False))
    return [("basic", first), ("disallowTenant", dict(first, multi_tenant=blk(allow_tenants=False))), ("update", last)]


def but(config, **changes):
    c = copy.deepcopy(config)
    c.update(changes)
    return {k: v for k, v in c.items() if v is not None}


def with_tenant(wire, name, project):
    """The tenant that the tests of tenant_* create first; None if it cannot be."""
    t = Resource(wire, "tenant", project)
    try:
        t.apply({"display_name": "tenant"})
        return t
    except Failed as e:
        fault(name + "/tenant", request(wire.last()), "2xx", answer(wire.last()))


def saml(name, tf, sign=None, url="https://example.com", display="Display Name", certificates=(0,), **more):
    idp = {"idp_entity_id": "tf-idp" + tf, "sso_url": url, "idp_certificates": [{"x509_certificate": CERTIFICATES[i]} for i in certificates]}
    if sign is not None:
        idp["sign_request"] = sign
    return dict({"name": name, "display_name": display, "idp_config": [idp],
                 "sp_config": blk(sp_entity_id="tf-sp" + tf, callback_uri=url)}, **more)


def oauth(name, issuer="issuer", display="Display Name", client="client-id", secret="secret", enabled=True, **more):
    if issuer == ISSUER:  # not the acceptance tests: response_type has cases of its own
        more.setdefault("response_type", rt(True, False))
    return dict({"name": name, "display_name": display, "client_id": client, "issuer": issuer, "enabled": enabled,
                 "client_secret": secret}, **more)


def default_idp(idp, client="client-id", secret="secret", enabled=True, **more):
    return dict({"idp_id": idp, "client_id": client, "client_secret": secret, "enabled": enabled}, **more)


def apple_secret(client):
    """As Google documents it for apple.com: a JWT. Only Apple can verify its signature."""
    claims = {"iss": "TEAM", "sub": client, "aud": "https://appleid.apple.com", "exp": int(time.time()) + 86400}
    parts = [json.dumps(part).encode() for part in ({"alg": "ES256", "kid": "KEY"}, claims)] + [b"signature"]
    return ".".join(base64.urlsafe_b64encode(part).rstrip(b"=").decode() for part in parts)


CASES = []


def case(f):
    CASES.append((f.__name__.replace("__", ".").rstrip("_"), f))
    return f


def suffix():
    return "".join(random.choices(string.ascii_lowercase + string.digits, k=10))


class Ground:
    def __init__(self, wire, service):
        self.wire, self.service, self._shared = wire, service, None

    def fresh(self):
        return self.service.project()

    def project(self):
        """Without what `identity dev` sets in a project that it creates on its first use: that has cases of its own."""
        p = self.fresh()
        self.wire.send("PATCH", "projects/%s/config" % p, {"updateMask": "multiTenant"}, {})
        return p

    @property
    def shared(self):
        """The acceptance tests' project, in which multi-tenancy is on."""
        if not self._shared:
            self._shared = self.fresh()
            self.wire.send("PATCH", "projects/%s/config" % self._shared, {"updateMask": "multiTenant.allowTenants"},
                           {"multiTenant": {"allowTenants": True}})
        return self._shared


@case
def TestAccIdentityPlatformConfig_identityPlatformConfigBasicExample(g):
    p = g.fresh()
    first = config_basic(p)
    n = "TestAccIdentityPlatformConfig_identityPlatformConfigBasicExample"
    s = run(n, g.wire, "config", p, [("basic", first), ("changed", but(first, autodelete_anonymous_users=None, quota=None))], KEYS)
    if s.resource.state is None or n + "/basic/apply" in faults:
        p = g.fresh()
        first = config_basic(p)
        run(n + "[quota as a string]", g.wire, "config", p,
            [("basic", first), ("changed", but(first, autodelete_anonymous_users=None, quota=None))], KEYS, fix=quota_as_string)


@case
def TestAccIdentityPlatformConfig_identityPlatformConfigMinimalExample(g):
    p = g.fresh()
    first = config_minimal(p)
    run("TestAccIdentityPlatformConfig_identityPlatformConfigMinimalExample", g.wire, "config", p,
        [("minimal", first), ("changed", but(first, mfa=mfa_totp(adjacent=5)))], KEYS)


@case
def TestAccIdentityPlatformConfig_identityPlatformConfigWithFalseValuesExample(g):
    p = g.fresh()
    first = config_false(p)
    run("TestAccIdentityPlatformConfig_identityPlatformConfigWithFalseValuesExample", g.wire, "config", p,
        [("false", first), ("changed", but(first, autodelete_anonymous_users=True))], KEYS)


@case
def TestAccIdentityPlatformConfig_update(g):
    p = g.fresh()
    run("TestAccIdentityPlatformConfig_update", g.wire, "config", p, config_update(p), KEYS)


@case
def TestAccIdentityPlatformTenant_identityPlatformTenantBasicExample(g):
    run("TestAccIdentityPlatformTenant_identityPlatformTenantBasicExample", g.wire, "tenant", g.shared,
        [("basic", dict(display_name="tenant", allow_password_signup=True)),
         ("changed", dict(display_name="tenant", allow_password_signup=True, enable_email_link_signin=True))])


@case
def TestAccIdentityPlatformTenant_identityPlatformTenantUpdate(g):
    run("TestAccIdentityPlatformTenant_identityPlatformTenantUpdate", g.wire, "tenant", g.shared,
        [("basic", dict(display_name="tenant", allow_password_signup=True)),
         ("update", dict(display_name="my-tenant", allow_password_signup=False, enable_email_link_signin=True, disable_auth=True,
                         client=permissions(True, True)))])


def default_story(g, name, kind, idps, second, ignore=()):
    for idp in idps:
        n = name if idp == idps[0] else "%s[%s]" % (name, idp)
        more = {}
        if kind.startswith("tenant"):
            t = with_tenant(g.wire, n, g.shared)
            if not t:
                return
            more = {"tenant": t.state["name"]}
        run(n, g.wire, kind, g.shared, [("basic", default_idp(idp, client="my-client-id" if "Basic" in name else "client-id", **more)),
                                        ("update", default_idp(idp, **dict(second, **more)))], ignore)
        if more:
            t.delete()
        if n + "/basic/apply" not in faults:
            break


@case
def TestAccIdentityPlatformDefaultSupportedIdpConfig_defaultSupportedIdpConfigUpdate(g):
    default_story(g, "TestAccIdentityPlatformDefaultSupportedIdpConfig_defaultSupportedIdpConfigUpdate", "default_supported_idp_config",
                  ["playgames.google.com", "google.com"], dict(secret="anothersecret", enabled=False))


@case
def TestAccIdentityPlatformTenantDefaultSupportedIdpConfig_identityPlatformTenantDefaultSupportedIdpConfigBasicExample(g):
    default_story(g, "TestAccIdentityPlatformTenantDefaultSupportedIdpConfig_identityPlatformTenantDefaultSupportedIdpConfigBasicExample", "tenant_default_supported_idp_config",
                  ["playgames.google.com", "google.com"], dict(client="changed"), ("idp_id", "tenant"))


@case
def TestAccIdentityPlatformTenantDefaultSupportedIdpConfig_identityPlatformTenantDefaultSupportedIdpConfigUpdate(g):
    default_story(g, "TestAccIdentityPlatformTenantDefaultSupportedIdpConfig_identityPlatformTenantDefaultSupportedIdpConfigUpdate", "tenant_default_supported_idp_config",
                  ["playgames.google.com", "google.com"], dict(client="client-id2", secret="differentsecret", enabled=False), ("tenant",))


def oauth_story(g, name, kind, ids, first, second, ignore=()):
    for issuers in (first["issuer"], second["issuer"]), ("https://issuer.example.com", "https://issuer2.example.com"):
        n = name if issuers[0] == first["issuer"] else name + "[https issuers]"
        more = {}
        if kind.startswith("tenant"):
            t = with_tenant(g.wire, n, g.shared)
            if not t:
                return
            more = {"tenant": t.state["name"]}
        i = ids + suffix()
        run(n, g.wire, kind, g.shared, [("basic", oauth(i, **dict(first, issuer=issuers[0], **more))),
                                        ("update", oauth(i, **dict(second, issuer=issuers[1], **more)))], ignore)
        if more:
            t.delete()
        if n + "/basic/apply" not in faults:
            break


def rt(id_token, code):
    return blk(id_token=id_token, code=code)


@case
def TestAccIdentityPlatformOauthIdpConfig_identityPlatformOauthIdpConfigBasicExample(g):
    a = dict(issuer="issuer", response_type=rt(True, False))
    oauth_story(g, "TestAccIdentityPlatformOauthIdpConfig_identityPlatformOauthIdpConfigBasicExample", "oauth_idp_config", "oidc.oauth-idp-config-", a,
                dict(a, display="Changed"))


@case
def TestAccIdentityPlatformOauthIdpConfig_identityPlatformOauthIdpConfigUpdate(g):
    oauth_story(g, "TestAccIdentityPlatformOauthIdpConfig_identityPlatformOauthIdpConfigUpdate", "oauth_idp_config", "oidc.oauth-idp-config",
                dict(issuer="issuer", response_type=rt(False, True)),
                dict(issuer="different-issuer", display="Another display name", client="different", enabled=False, secret="secret2",
                     response_type=rt(True, False)))


@case
def TestAccIdentityPlatformTenantOauthIdpConfig_identityPlatformTenantOauthIdpConfigBasicExample(g):
    oauth_story(g, "TestAccIdentityPlatformTenantOauthIdpConfig_identityPlatformTenantOauthIdpConfigBasicExample", "tenant_oauth_idp_config", "oidc.oauth-idp-config-",
                dict(issuer="issuer"), dict(issuer="issuer", display="Changed"), ("tenant",))


@case
def TestAccIdentityPlatformTenantOauthIdpConfig_identityPlatformTenantOauthIdpConfigUpdate(g):
    oauth_story(g, "TestAccIdentityPlatformTenantOauthIdpConfig_identityPlatformTenantOauthIdpConfigUpdate", "tenant_oauth_idp_config", "oidc.oauth-idp-config",
                dict(issuer="issuer"), dict(issuer="issuer2", display="My Display", client="different-client", enabled=False,
                                            secret="supersecret"), ("tenant",))


def saml_story(g, name, kind, ids, first, second, ignore=()):
    more = {}
    if kind.startswith("tenant"):
        t = with_tenant(g.wire, name, g.shared)
        if not t:
            return
        more = {"tenant": t.state["name"]}
    i, tf = ids + suffix(), suffix()
    run(name, g.wire, kind, g.shared, [("basic", saml(i, tf, **dict(first, **more))), ("update", saml(i, tf, **dict(second, **more)))],
        ignore)
    if more:
        t.delete()


@case
def TestAccIdentityPlatformInboundSamlConfig_identityPlatformInboundSamlConfigBasicExample(g):
    saml_story(g, "TestAccIdentityPlatformInboundSamlConfig_identityPlatformInboundSamlConfigBasicExample", "inbound_saml_config", "saml.tf-config-",
               dict(sign=True), dict(sign=True, enabled=True))


@case
def TestAccIdentityPlatformInboundSamlConfig_inboundSamlConfigUpdate(g):
    saml_story(g, "TestAccIdentityPlatformInboundSamlConfig_inboundSamlConfigUpdate", "inbound_saml_config", "saml.tf-config",
               dict(), dict(display="Display Name2", sign=True, url="https://example123.com"))


@case
def TestAccIdentityPlatformTenantInboundSamlConfig_identityPlatformTenantInboundSamlConfigBasicExample(g):
    saml_story(g, "TestAccIdentityPlatformTenantInboundSamlConfig_identityPlatformTenantInboundSamlConfigBasicExample", "tenant_inbound_saml_config", "saml.tf-config-",
               dict(sign=True), dict(sign=True, enabled=True), ("tenant",))


@case
def TestAccIdentityPlatformTenantInboundSamlConfig_identityPlatformTenantInboundSamlConfigUpdate(g):
    saml_story(g, "TestAccIdentityPlatformTenantInboundSamlConfig_identityPlatformTenantInboundSamlConfigUpdate", "tenant_inbound_saml_config", "saml.tf-config",
               dict(sign=True), dict(display="Display Name2", sign=False, url="https://example123.com"), ("tenant",))


# --- More -----------------------------------------------------------------------------------------------------------------

ISSUER = "https://idp.example.com"


@case
def unset__config(g):
    """A config with nothing set, and every kind of block set alone: nothing else may show up."""
    run("unset.config", g.wire, "config", g.fresh(), [("nothing", {})])
    for k, v in [("authorized_domains", ["localhost"]), ("client", permissions(True, True)), ("monitoring", monitoring(True)),
                 ("mfa", blk(state="DISABLED")), ("autodelete_anonymous_users", True)]:
        run("unset.config-only-" + k, g.wire, "config", g.fresh(), [("set", {k: v}), ("removed", {})])
    # email and phone_number have custom flatteners that always give a block, so a config has both; anonymous has not.
    run("unset.sign_in-without-anonymous", g.wire, "config", g.fresh(),
        [("set", dict(sign_in=sign_in(None, (True, True), (False,))))])


@case
def unset__others(g):
    w, p = g.wire, g.shared
    run("unset.tenant", w, "tenant", p, [("name only", dict(display_name="tenant"))])
    run("unset.default_supported_idp_config", w, "default_supported_idp_config", p,
        [("enabled unset", but(default_idp("facebook.com"), enabled=None)), ("enabled", default_idp("facebook.com")),
         ("enabled removed", but(default_idp("facebook.com"), enabled=None))])
    i = "oidc.unset-" + suffix()
    run("unset.oauth_idp_config", w, "oauth_idp_config", p,
        [("required only", dict(name=i, client_id="client-id", issuer=ISSUER)),
         ("display_name, enabled", dict(name=i, client_id="client-id", issuer=ISSUER, display_name="D", enabled=True)),
         ("removed again", dict(name=i, client_id="client-id", issuer=ISSUER))])
    i = "oidc.rt-" + suffix()
    bare = dict(name=i, client_id="client-id", issuer=ISSUER, enabled=True)
    run("unset.response_type", w, "oauth_idp_config", p,
        [("without", bare), ("id_token", dict(bare, response_type=rt(True, False))), ("id_token alone", dict(bare, response_type=blk(id_token=True))),
         ("without again", bare)])
    i, tf = "saml.unset-" + suffix(), suffix()
    run("unset.inbound_saml_config", w, "inbound_saml_config", p,
        [("required only", saml(i, tf)), ("set", saml(i, tf, sign=True, enabled=True)), ("removed again", saml(i, tf))])
    t = with_tenant(w, "unset.tenant_*", p)
    if t:
        i = "oidc.unset-" + suffix()
        run("unset.tenant_oauth_idp_config", w, "tenant_oauth_idp_config", p,
            [("required only", dict(name=i, client_id="client-id", issuer=ISSUER, display_name="D", tenant=t.state["name"]))])
        t.delete()


@case
def order(g):
    w, p = g.wire, g.project()
    domains = ["z.example.com", "localhost", "a.example.com", "127.0.0.1"]
    run("order.authorized_domains", w, "config", p, [("as given", dict(authorized_domains=domains)),
                                                   ("reversed", dict(authorized_domains=domains[::-1])),
                                                   ("one more, first", dict(authorized_domains=["first.example.com"] + domains))])
    run("order.sms_region_config", w, "config", g.project(), [
        ("allowed", dict(sms_region_config=blk(allowlist_only=blk(allowed_regions=["US", "CA", "JP", "AU"])))),
        ("reversed", dict(sms_region_config=blk(allowlist_only=blk(allowed_regions=["AU", "JP", "CA", "US"])))),
        ("disallowed", dict(sms_region_config=blk(allow_by_default=blk(disallowed_regions=["US", "CA"])))),
        ("reversed again", dict(sms_region_config=blk(allow_by_default=blk(disallowed_regions=["CA", "US"]))))])
    i, tf = "saml.order-" + suffix(), suffix()
    run("order.idp_certificates", w, "inbound_saml_config", g.shared,
        [("one", saml(i, tf)), ("two", saml(i, tf, certificates=(0, 1))), ("swapped", saml(i, tf, certificates=(1, 0))),
         ("one again", saml(i, tf, certificates=(1,)))])


@case
def mfa(g):
    w = g.wire
    P_ = ["PHONE_SMS"]
    totp = lambda state="ENABLED", n=3: blk(state=state, totp_provider_config=blk(adjacent_intervals=n))
    run("mfa.totp", w, "config", g.project(), [
        ("both", dict(mfa=mfa_totp())), ("adjacent 10", dict(mfa=mfa_totp(adjacent=10))),
        ("totp disabled", dict(mfa=mfa_totp(totp="DISABLED"))), ("without provider_configs", dict(mfa=blk(enabled_providers=P_, state="ENABLED"))),
        ("disabled", dict(mfa=blk(enabled_providers=P_, state="DISABLED")))])
    # adjacent_intervals = 0 and totp_provider_config {} never reach a service: the expanders drop them.
    r, c = Resource(w, "config", g.project()), dict(mfa=mfa_totp(adjacent=0))
    r.apply(c)
    d = r.plan(c)[1]
    note("mfa.totp with adjacent_intervals = 0", "%s; plan: %s (the expander drops 0 and then the block; the provider's own)" %
         (request(w.last("PATCH")), told(d)) if d else "the plan is empty")
    run("mfa.totp-only", w, "config", g.project(), [("totp only", dict(mfa=blk(state="DISABLED", provider_configs=totp()))),
                                                  ("state unset", dict(mfa=blk(provider_configs=totp())))])
    run("mfa.state-only", w, "config", g.project(), [("disabled", dict(mfa=blk(state="DISABLED"))), ("enabled", dict(mfa=blk(state="ENABLED", enabled_providers=P_)))])
    run("mfa.mandatory", w, "config", g.project(), [("state MANDATORY", dict(mfa=blk(state="MANDATORY", enabled_providers=P_)))])
    run("mfa.totp-mandatory", w, "config", g.project(), [("provider_configs.state MANDATORY", dict(mfa=mfa_totp(totp="MANDATORY")))])
    run("mfa.providers-unset", w, "config", g.project(), [("state ENABLED without enabled_providers", dict(mfa=blk(state="ENABLED", provider_configs=totp())))])
    run("mfa.without-state", w, "config", g.project(), [("enabled_providers without state", dict(mfa=blk(enabled_providers=P_)))])


@case
def blocking_functions(g):
    w, p = g.wire, g.project()
    sign, create = trigger("beforeSignIn", function(p)), trigger("beforeCreate", function(p, "before-create"))
    bf = lambda triggers, **k: dict(blocking_functions=[dict(triggers=triggers, **k)])
    some = blk(id_token=True, access_token=False, refresh_token=False)
    run("blocking_functions", w, "config", p, [
        ("one", bf([sign], forward_inbound_credentials=forward(True))),
        ("both", bf([sign, create], forward_inbound_credentials=forward(True))),
        ("some credentials, updateTime sent back", bf([create, sign], forward_inbound_credentials=some)),
        ("no credentials", bf([create, sign], forward_inbound_credentials=forward(False))),
        ("another URI", bf([dict(create, function_uri=function(p, "other")), sign], forward_inbound_credentials=forward(False))),
        ("one removed", bf([create], forward_inbound_credentials=forward(True))),
        ("removed", {})])
    got = json.loads(w.last("GET")["answer"]).get("blockingFunctions")
    (ok("blocking_functions/absent after removal") if not got else
     fault("blocking_functions/absent after removal", request(w.last("PATCH")), "no blockingFunctions", json.dumps(got)))
    run("blocking_functions.with-query", w, "config", g.project(),
        [("a URI with & and =", bf([trigger("beforeCreate", "https://functions.example.com/f?a=1&b=<2>")], forward_inbound_credentials=forward(False)))])


@case
def sms_region_config(g):
    allow = lambda *r: dict(sms_region_config=blk(allowlist_only=blk(allowed_regions=list(r))))
    block = lambda *r: dict(sms_region_config=blk(allow_by_default=blk(disallowed_regions=list(r))))
    run("sms_region_config", g.wire, "config", g.project(), [
        ("allow", allow("US", "CA")), ("disallow instead", block("CA", "US")), ("disallow one", block("CA")), ("allow again", allow("JP")),
        ("unset: stays, computed", {})])
    # `allow_by_default {}`: the expander drops it (l[0] == nil), the provider's own plan is never empty; not tested.


@case
def quota(g):
    q = lambda n, d="7200s", start=None: dict(quota=blk(sign_up_quota_config=blk(quota=n, start_time=start or when, quota_duration=d)))
    when = tomorrow()
    steps = [("set", q(1000)), ("changed", q(500)), ("3600.500s", q(500, "3600.500s")), ("removed", {}), ("set again", q(1))]
    s = run("quota", g.wire, "config", g.project(), steps)
    if "quota/set/apply" in faults:
        run("quota[as a string]", g.wire, "config", g.project(), steps, fix=quota_as_string)
    # The zone of start_time: time.Now().Format(time.RFC3339) has the local one. The provider compares as text.
    zone = tomorrow("+09:00")
    c = q(1000, start=zone)
    r = Resource(g.wire, "config", g.project(), quota_as_string)
    try:
        r.apply(c)
        d = r.plan(c)[1]
        note("quota.start_time with +09:00", "plan: %s" % told(d) if d else "kept as written; the plan is empty")
    except Failed as e:
        note("quota.start_time with +09:00", str(e))


@case
def authorized_domains(g):
    w = g.wire
    run("authorized_domains", w, "config", g.project(), [
        ("set", dict(authorized_domains=["localhost", "app.example.com"])), ("without localhost", dict(authorized_domains=["app.example.com"])),
        ("unset: stays, computed", {}), ("one", dict(authorized_domains=["localhost"]))])
    # `authorized_domains = []`: the mask has it, the body has not.
    p = g.project()
    r = Resource(w, "config", p)
    try:
        r.apply(dict(authorized_domains=["localhost", "app.example.com"]))
        r.apply(dict(authorized_domains=[]))
        d = r.plan(dict(authorized_domains=[]))[1]
        (note if d else lambda n, t: ok(n))("authorized_domains/[]", "%s answered with %s; plan: %s" % (
            request(w.last("PATCH")), member(w, r, d), told(d)) if d else "")
    except Failed as e:
        note("authorized_domains/[]", "%s: %s" % (request(w.last()), e))


@case
def monitoring_(g):
    run("monitoring", g.wire, "config", g.project(), [("on", dict(monitoring=monitoring(True))), ("off", dict(monitoring=monitoring(False))),
                                                      ("on again", dict(monitoring=monitoring(True))), ("unset: stays, computed", {})])
    run("monitoring.off-first", g.wire, "config", g.project(), [("off", dict(monitoring=monitoring(False)))])


@case
def multi_tenant(g):
    mt = lambda **k: dict(multi_tenant=[k])
    run("multi_tenant", g.wire, "config", g.project(), [
        ("on", mt(allow_tenants=True)), ("location", mt(allow_tenants=True, default_tenant_location="folders/123")),
        ("another", mt(allow_tenants=True, default_tenant_location="organizations/456")), ("location removed", mt(allow_tenants=True)),
        ("off: {} on the wire", mt(allow_tenants=False)), ("on again", mt(allow_tenants=True)), ("removed", {})])
    run("multi_tenant.off-first", g.wire, "config", g.project(), [("off: {} on the wire", mt(allow_tenants=False)), ("removed", {})])
    p = g.project()
    r, t = Resource(g.wire, "config", p), Resource(g.wire, "tenant", p)
    r.apply(mt(allow_tenants=True))
    t.apply(dict(display_name="tenant"))
    expect("multi_tenant/removed while there is a tenant", g.wire, 200, "PATCH", "projects/%s/config" % p, {"updateMask": "multiTenant"}, {})
    expect("multi_tenant/tenant is read after it", g.wire, 200, "GET", "projects/%s/tenants/%s" % (p, t.state["name"]))


@case
def client_permissions(g):
    one_ = lambda **k: dict(client=blk(permissions=[k]))
    run("client.permissions", g.wire, "config", g.project(), [
        ("both", dict(client=permissions(True, True))), ("signup only", one_(disabled_user_signup=True)),
        ("deletion", dict(client=permissions(False, True))), ("none", dict(client=permissions(False, False))),
        ("unset: stays, computed", {})])
    run("client.permissions.false-first", g.wire, "config", g.project(), [("none", dict(client=permissions(False, False)))])
    run("client.permissions.tenant", g.wire, "tenant", g.shared, [
        ("both", dict(display_name="tenant", client=permissions(True, True))), ("one", dict(display_name="tenant", client=permissions(True, False))),
        ("removed", dict(display_name="tenant"))])
    # In a tenant permissions have no custom flattener: Google's answer without false values never gives an empty plan.
    r = Resource(g.wire, "tenant", g.shared)
    c = dict(display_name="tenant", client=permissions(False, False))
    try:
        r.apply(c)
        d = r.plan(c)[1]
        note("client.permissions.tenant, both false", "plan: %s (the flattener needs a non-empty object; the provider's own)" % told(d) if d else "the plan is empty")
        r.delete()
    except Failed as e:
        note("client.permissions.tenant, both false", str(e))


@case
def sign_in_(g):
    w = g.wire
    both = lambda email, phone, **k: dict(sign_in=sign_in(k.get("anonymous"), email, phone, k.get("duplicate")))
    run("sign_in", w, "config", g.project(), [
        ("all on", both((True, True), (True, {"+16505550100": "123456", "+16505550101": "654321"}), anonymous=True, duplicate=True)),
        ("a test number less", both((True, True), (True, {"+16505550101": "654321"}), anonymous=True, duplicate=True)),
        ("no test numbers", both((True, True), (True,), anonymous=True, duplicate=True)),
        ("links", both((True, False), (True,), anonymous=True, duplicate=False)),
        ("phone off", both((True, False), (False,), anonymous=True)), ("anonymous off", both((True, False), (False,), anonymous=False)),
        ("email off", both((False,), (True,), anonymous=False)), ("email off, password_required", both((False, True), (True,), anonymous=False)),
        ("all off", both((False,), (False,), anonymous=False)), ("unset: stays, computed", {})])


@case
def enabled(g):
    w, p = g.wire, g.shared
    run("enabled.default_supported_idp_config", w, "default_supported_idp_config", p,
        [("off", default_idp("github.com", enabled=False)), ("on", default_idp("github.com")), ("off again", default_idp("github.com", enabled=False))])
    i = "oidc.enabled-" + suffix()
    run("enabled.oauth_idp_config", w, "oauth_idp_config", p,
        [("off", oauth(i, ISSUER, enabled=False)), ("on", oauth(i, ISSUER)), ("off again", oauth(i, ISSUER, enabled=False))])
    i, tf = "saml.enabled-" + suffix(), suffix()
    run("enabled.inbound_saml_config", w, "inbound_saml_config", p,
        [("off", saml(i, tf, enabled=False)), ("on", saml(i, tf, enabled=True)), ("off again", saml(i, tf, enabled=False))])
    run("enabled.tenant", w, "tenant", p,
        [("all off", dict(display_name="tenant", allow_password_signup=False, enable_email_link_signin=False, disable_auth=False)),
         ("all on", dict(display_name="tenant", allow_password_signup=True, enable_email_link_signin=True, disable_auth=True)),
         ("unset", dict(display_name="tenant"))])


@case
def default_ids(g):
    """Every ID that the provider's documentation names."""
    for i in ["apple.com", "facebook.com", "gc.apple.com", "github.com", "google.com", "linkedin.com", "microsoft.com",
              "playgames.google.com", "twitter.com", "yahoo.com"]:
        if i == "apple.com":
            r = Resource(g.wire, "default_supported_idp_config", g.shared)
            try:
                r.apply(default_idp(i))
                r.delete()
                note("idp_id.apple.com", "any client_secret is taken")
            except Failed as e:
                note("idp_id.apple.com", "client_secret = \"secret\" is refused: %s" % e)
            apple = default_idp(i, secret=apple_secret("client-id"))
            run("idp_id.%s" % i, g.wire, "default_supported_idp_config", g.shared, [("create", apple)])
            continue
        run("idp_id.%s" % i, g.wire, "default_supported_idp_config", g.shared, [("create", default_idp(i))])


@case
def force_new(g):
    w, p = g.wire, g.shared
    s = Story("force_new.oauth_idp_config", w, "oauth_idp_config", p)
    a, b = "oidc.new-" + suffix(), "oidc.new-" + suffix()
    if s.step("first", oauth(a, ISSUER)) and s.step("another name", oauth(b, ISSUER)):
        s.gone("projects/%s/oauthIdpConfigs/%s" % (p, a), s.name + "/the first is gone")
        s.destroy()


@case
def secret(g):
    """client_secret: what is planned, what a second apply sends, and lifecycle { ignore_changes = [client_secret] }."""
    w, p = g.wire, g.shared
    for kind, c in [("default_supported_idp_config", default_idp("microsoft.com")), ("oauth_idp_config", oauth("oidc.secret-" + suffix(), ISSUER))]:
        r = Resource(w, kind, p)
        n = "client_secret.%s" % kind
        try:
            r.apply(c)
            body = json.loads(w.last("GET")["answer"])
            d = r.plan(c)[1]
            w_before = len(w.log)
            r.apply(c)
            sent = [request(x) for x in w.log[w_before:] if x["method"] == "PATCH"]
            d2 = r.plan(c)[1]
            note(n, "GET has clientSecret: %s; state: %s; first plan: %s; apply sends: %s; plan after it: %s" % (
                body.get("clientSecret", "(absent)"), json.dumps(r.state["client_secret"]), told(d) or "empty", sent, told(d2) or "empty"))
            s = Story(n + "[ignore_changes]", w, kind, p, ignore_changes=("client_secret",))
            s.resource.state = r.state
            s.step("unchanged", c)
            s.step("enabled = false", dict(c, enabled=False))
            body = w.last("PATCH")
            (ok if "secret" not in (body["body"] or "") and "Secret" not in body["target"] else
             lambda name: fault(name, request(body), "no clientSecret", "it"))(n + "[ignore_changes]/enabled = false sends no secret")
            s.destroy()
        except Failed as e:
            fault(n, request(w.last()), "2xx", answer(w.last()))
    i = "oidc.secret-" + suffix()
    r = Resource(w, "oauth_idp_config", p)
    r.apply(oauth(i, ISSUER))
    d = r.plan(but(oauth(i, ISSUER), client_secret=None))[1]
    note("client_secret.oauth_idp_config, removed from the configuration", "plan: %s" % (told(d) or "empty, so nothing is sent and the service keeps the secret"))
    r.delete()
    i = "oidc.public-" + suffix()
    run("client_secret.oauth_idp_config-without", w, "oauth_idp_config", p, [("without a secret", but(oauth(i, ISSUER), client_secret=None))])


def expect(name, wire, code, method, path, query=(), body=None, status=None):
    try:
        wire.send(method, path, query, body)
    except Failed:
        pass
    e = wire.last()
    good = e["status"] == code
    if good and code >= 400:
        # googleapi.CheckResponse reads error.code and error.message.
        try:
            o = json.loads(e["answer"])["error"]
            good = o["code"] == code and bool(o["message"]) and (status is None or o.get("status") == status)
        except Exception:
            good = False
    if good:
        ok(name)
    else:
        fault(name, request(e), "%d%s" % (code, " " + status if status else ""), answer(e))
    return e


@case
def errors(g):
    w, p = g.wire, g.shared
    t = with_tenant(w, "errors", p)
    parents = ["projects/" + p] + (["projects/%s/tenants/%s" % (p, t.state["name"])] if t else [])
    i = suffix()
    bodies = [("defaultSupportedIdpConfigs", "idpId", "facebook.com", {"clientId": "a", "clientSecret": "b", "enabled": True}),
              ("oauthIdpConfigs", "oauthIdpConfigId", "oidc.e-" + i, {"name": "oidc.e-" + i, "displayName": "D", "issuer": ISSUER, "clientId": "a"}),
              ("inboundSamlConfigs", "inboundSamlConfigId", "saml.e-" + i,
               {"name": "saml.e-" + i, "displayName": "D", "idpConfig": {"idpEntityId": "x", "ssoUrl": "https://example.com",
                "idpCertificates": [{"x509Certificate": CERTIFICATES[0]}]}, "spConfig": {"spEntityId": "y", "callbackUri": "https://example.com"}})]
    for parent in parents:
        where = "tenant's " if "/tenants/" in parent else ""
        for collection, q, name, body in bodies:
            n = "errors.%s%s" % (where, collection)
            one_ = "%s/%s/%s" % (parent, collection, name)
            expect(n + "/GET before create", w, 404, "GET", one_, status="NOT_FOUND")
            expect(n + "/DELETE before create", w, 404, "DELETE", one_, status="NOT_FOUND")
            expect(n + "/PATCH before create", w, 404, "PATCH", one_, {"updateMask": "enabled"}, {"enabled": True}, status="NOT_FOUND")
            expect(n + "/create", w, 200, "POST", parent + "/" + collection, {q: name}, body)
            expect(n + "/create again", w, 409, "POST", parent + "/" + collection, {q: name}, body, status="ALREADY_EXISTS")
            expect(n + "/DELETE", w, 200, "DELETE", one_)
            expect(n + "/GET after delete", w, 404, "GET", one_, status="NOT_FOUND")
            expect(n + "/DELETE again", w, 404, "DELETE", one_, status="NOT_FOUND")
            expect(n + "/create after delete", w, 200, "POST", parent + "/" + collection, {q: name}, body)
            if not where:
                expect(n + "/DELETE at last", w, 200, "DELETE", one_)
    if t:
        me = "projects/%s/tenants/%s" % (p, t.state["name"])
        expect("errors.tenant/DELETE with configs in it", w, 200, "DELETE", me)
        expect("errors.tenant/GET after delete", w, 404, "GET", me, status="NOT_FOUND")
        expect("errors.tenant/PATCH after delete", w, 404, "PATCH", me, {"updateMask": "displayName"}, {"displayName": "x"}, status="NOT_FOUND")
        expect("errors.tenant/DELETE again", w, 404, "DELETE", me, status="NOT_FOUND")
        for collection, q, name, body in bodies:
            expect("errors.tenant's %s/GET after the tenant's delete" % collection, w, 404, "GET", "%s/%s/%s" % (me, collection, name))
            expect("errors.tenant's %s/create after the tenant's delete" % collection, w, 404, "POST", "%s/%s" % (me, collection), {q: name}, body)
    expect("errors.initializeAuth again", w, 200, "POST", "projects/%s/identityPlatform:initializeAuth" % p)
    expect("errors.config/PATCH with an empty mask and {} (provider before 5.x)", w, 200, "PATCH", "projects/%s/config" % p, {"updateMask": ""}, {})
    before = w.token
    w.token = "wrong"
    expect("errors.a wrong token", w, 401, "GET", "projects/%s/config" % p, status="UNAUTHENTICATED")
    w.token = before


@case
def config_again(g):
    """destroy leaves a config on the server; create after it starts with initializeAuth again."""
    w, p = g.wire, g.project()
    c = dict(client=permissions(True, False), monitoring=monitoring(True), multi_tenant=blk(allow_tenants=True))
    s = Story("config again", w, "config", p, KEYS)
    if s.step("first", c):
        s.resource.delete()
        s.step("created again after destroy", c)
        s.resource.delete()
        s.step("created again with other values", dict(c, client=permissions(False, True)))


@case
def drift(g):
    w, p = g.wire, g.shared
    i = "oidc.drift-" + suffix()
    c = but(oauth(i, ISSUER), client_secret=None)
    r = Resource(w, "oauth_idp_config", p)
    r.apply(c)
    w.send("PATCH", r.path(r.state), {"updateMask": "displayName,enabled"}, {"displayName": "by hand"})
    r.read()
    d = sorted(x[0] for x in r.plan(c)[1])
    (ok if d == ["display_name", "enabled"] else lambda n: fault(n, request(w.last("PATCH")), "display_name and enabled", d))("drift/changed by hand")
    s = Story("drift", w, "oauth_idp_config", p)
    s.resource = r
    s.step("applied again", c)
    path = r.path(r.state)
    w.send("DELETE", path)
    gone = r.read() is None
    (ok if gone else lambda n: fault(n, "DELETE " + path, "404 of GET", answer(w.last())))("drift/deleted by hand")
    s.step("created again", c)
    s.destroy()


@case
def lists(g):
    """The sweepers' lists (one GET, no query but alt=json), and ListPages of the newer list resources."""
    w, p = g.wire, g.project()
    w.send("PATCH", "projects/%s/config" % p, {"updateMask": "multiTenant.allowTenants"}, {"multiTenant": {"allowTenants": True}})

    def page(path, key, query=()):
        """ListPages: goes on while the answer HAS nextPageToken, even if it is empty."""
        found, q = [], dict(query)
        for _ in range(20):
            a = w.send("GET", path, q)
            if not isinstance(a.get(key, []), list):
                raise Failed("%s is no list" % key)
            found += a.get(key, [])
            if "nextPageToken" not in a:
                return found
            q["pageToken"] = a["nextPageToken"]
        raise Failed("nextPageToken never ends: ListPages would loop for ever")

    t = Resource(w, "tenant", p)

    def check(name, path, key, want, query=()):
        try:
            got = [e["name"].rsplit("/", 1)[-1] for e in page(path, key, query)]
            if sorted(got) == sorted(want) and len(got) == len(set(got)):
                ok(name)
            else:
                fault(name, request(w.last()), sorted(want), sorted(got))
        except (Failed, KeyError) as e:
            fault(name, request(w.last()), "a list under %s" % key, "%s: %r" % (answer(w.last()), e))

    root = "projects/" + p
    for parent in ["project", "tenant"]:
        if parent == "tenant":
            try:
                t.apply({"display_name": "tenant"})
            except Failed:
                fault("lists.tenant", request(w.last()), "2xx", answer(w.last()))
                return
            root = t.path(t.state)
        made = {}
        for collection, key, q, names, body in [
                ("defaultSupportedIdpConfigs", "defaultSupportedIdpConfigs", "idpId", ["facebook.com", "github.com", "google.com"],
                 lambda n: {"clientId": "a", "clientSecret": "b"}),
                ("oauthIdpConfigs", "oauthIdpConfigs", "oauthIdpConfigId", ["oidc.l%d" % i for i in range(3)],
                 lambda n: {"name": n, "displayName": "D", "issuer": ISSUER, "clientId": "a"}),
                ("inboundSamlConfigs", "inboundSamlConfigs", "inboundSamlConfigId", ["saml.l%d-a" % i for i in range(3)],
                 lambda n: {"name": n, "displayName": "D", "idpConfig": {"idpEntityId": "x" + n, "ssoUrl": "https://example.com",
                            "idpCertificates": [{"x509Certificate": CERTIFICATES[0]}]}, "spConfig": {"spEntityId": "y", "callbackUri": "https://example.com"}})]:
            path, n = root + "/" + collection, "lists.%s.%s" % (parent, collection)
            check(n + "/empty", path, key, [])
            for name in names:
                try:
                    w.send("POST", path, {q: name}, body(name))
                except Failed:
                    fault(n + "/create", request(w.last()), "2xx", answer(w.last()))
            check(n + "/all", path, key, names)
            for size in (1, 2, 3, 100):
                check(n + "/pageSize=%d" % size, path, key, names, {"pageSize": size})
            # The sweeper: each by the last part of its name.
            for e in w.send("GET", path).get(key, []):
                expect(n + "/sweep " + e["name"].rsplit("/", 1)[-1], w, 200, "DELETE", path + "/" + e["name"].rsplit("/", 1)[-1])
            check(n + "/after the sweep", path, key, [])
    more = [Resource(w, "tenant", p) for _ in range(2)]
    for m in more:
        m.apply({"display_name": "tenant"})
    names = [m.state["name"] for m in more + [t]]
    check("lists.tenants/all", "projects/%s/tenants" % p, "tenants", names)
    for size in (1, 2, 3, 100):
        check("lists.tenants/pageSize=%d" % size, "projects/%s/tenants" % p, "tenants", names, {"pageSize": size})
    for m in more + [t]:
        expect("lists.tenants/sweep", w, 200, "DELETE", "projects/%s/tenants/%s" % (p, m.state["name"]))
    check("lists.tenants/after the sweep", "projects/%s/tenants" % p, "tenants", [])


@case
def endpoints(g):
    """identity_platform_custom_endpoint: BASE/v2/ and BASE/identitytoolkit.googleapis.com/v2/."""
    other = Wire(g.service.url, g.wire.token, "/identitytoolkit.googleapis.com/v2/", g.wire.verbose)
    run("endpoints.identitytoolkit.googleapis.com", other, "config", g.project(), [("minimal", dict(monitoring=monitoring(True), multi_tenant=blk(allow_tenants=True)))], KEYS)
    # user_project_override = true
    other.headers = {"X-Goog-User-Project": "another-project"}
    p = g.project()
    run("endpoints.user_project_override", other, "config", p, [("minimal", dict(monitoring=monitoring(True)))], KEYS)


@case
def masks(g):
    """A PATCH has every value that is not empty, but only the mask's may change; a member in the mask and not in the body is cleared."""
    w, p = g.wire, g.shared
    i = "oidc.mask-" + suffix()
    w.send("POST", "projects/%s/oauthIdpConfigs" % p, {"oauthIdpConfigId": i},
           {"name": i, "displayName": "D", "issuer": ISSUER, "clientId": "a", "enabled": True, "responseType": {"idToken": True}})
    one_ = "projects/%s/oauthIdpConfigs/%s" % (p, i)
    w.send("PATCH", one_, {"updateMask": "displayName"}, {"displayName": "E", "clientId": "changed", "enabled": True, "issuer": ISSUER})
    a = w.send("GET", one_)
    (ok if (a.get("displayName"), a.get("clientId"), a.get("enabled")) == ("E", "a", True) else
     lambda n: fault(n, request(w.last("PATCH")), "only displayName changed", answer(w.last())))("masks/only the mask")
    w.send("PATCH", one_, {"updateMask": "displayName,enabled"}, {"clientId": "a", "issuer": ISSUER, "responseType": {"idToken": True}})
    a = w.send("GET", one_)
    (ok if not a.get("displayName") and not a.get("enabled") and a.get("clientId") == "a" else
     lambda n: fault(n, request(w.last("PATCH")), "displayName and enabled cleared", answer(w.last())))("masks/cleared")
    expect("masks/clientSecret in the mask only", w, 200, "PATCH", one_, {"updateMask": "clientSecret"}, {"clientId": "a", "issuer": ISSUER})
    w.send("DELETE", one_)


@case
def parallel(g):
    """terraform apply walks ten resources at once."""
    p, found = g.shared, []

    def work(n):
        wire = Wire(g.service.url, g.wire.token)
        kind, a, b = [
            ("oauth_idp_config", but(oauth("oidc.p%d" % n, ISSUER), client_secret=None), but(oauth("oidc.p%d" % n, ISSUER, display="B"), client_secret=None)),
            ("inbound_saml_config", saml("saml.p%d-a" % n, str(n)), saml("saml.p%d-a" % n, str(n), display="B", enabled=True)),
            ("tenant", dict(display_name="tenant"), dict(display_name="tenant-b", allow_password_signup=True)),
            ("config", dict(monitoring=monitoring(True), multi_tenant=blk(allow_tenants=True)),
             dict(monitoring=monitoring(True), multi_tenant=blk(allow_tenants=True)))][n % 4]
        r = Resource(wire, kind, p)
        try:
            for c in (a, b):
                r.apply(c)
                d = r.plan(c)[1]
                if d:
                    found.append("%s: %s" % (kind, told(d)))
            r.delete()
        except Failed as e:
            found.append("%s: %s → %s" % (kind, request(wire.last()), e))

    threads = [threading.Thread(target=work, args=(n,)) for n in range(40)]
    for at in range(0, 40, 10):
        for t in threads[at:at + 10]:
            t.start()
        for t in threads[at:at + 10]:
            t.join()
    if found:
        fault("parallel", "ten at once of create, update and delete", "what one at a time gives", "; ".join(found[:5]))
    else:
        ok("parallel")


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--first-use", action="store_true")
    p.add_argument("--only", default="")
    p.add_argument("--verbose", action="store_true")
    p.add_argument("--list", action="store_true")
    o = p.parse_args()
    if o.list:
        return print("\n".join(n for n, _ in CASES))
    service = Service(not o.first_use)
    try:
        wire = Wire(service.url, os.environ.get("TOKEN", "owner"), verbose=o.verbose)
        g = Ground(wire, service)
        for name, f in CASES:
            if o.only.lower() in name.lower():
                try:
                    f(g)
                except Failed as e:
                    fault(name, request(wire.last()), "2xx", answer(wire.last()))
    finally:
        service.stop()
    print("terraform: %d calls, %d failed, %d decided" % (totals["ok"], totals["FAULT"], totals["decided"]))
    return 1 if totals["FAULT"] else 0


if __name__ == "__main__":
    sys.exit(main())
