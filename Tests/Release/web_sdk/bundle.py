"""Bundles the Firebase Web SDK as `window.sdk`, for a browser without internet access.

The sources come from the source map in a wheel on PyPI (firebase 11.3, auth 1.9.0) and are bundled unchanged, so the tests
need neither npm nor Node. The map comes from a tree-shaken build, so a few modules are missing from it: those, and only
those, come from `standins/`. Nothing of the SDK is kept in the repository.

    .venv/bin/python Tests/Release/web_sdk/bundle.py
"""

import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
FOLDER = ROOT / ".build" / "web-sdk"
BUNDLE = FOLDER / "firebase.js"
WHEEL = "streamlit_firebase_auth-1.1.6-py3-none-any.whl"
SHA256 = "ff14e3ad27d05c0ea7ee9e93bc67ade1c77089d561ab18f30aed4f6bf9f34e7b"
SDK = FOLDER / "sdk"
# What the map lacks, by its path below `sdk/@firebase/`, and the stand-in that has what is imported from it.
STANDINS = {
    "strategies": [
        "auth/src/api/authentication/sign_up", "auth/src/core/strategies/anonymous", "auth/src/core/strategies/custom_token",
        "auth/src/core/strategies/email", "auth/src/core/strategies/email_link", "auth/src/core/user/account_info",
        "auth/src/core/user/additional_user_info", "auth/src/core/util/providers",
    ],
    "factors": ["auth/src/mfa/mfa_assertion", "auth/src/mfa/mfa_info", "auth/src/mfa/mfa_session"],
    "values": [
        "app/src/firebaseServerApp", "auth/src/model/enums", "auth/src/model/popup_redirect", "auth/src/model/public_types",
        "auth/src/platform_browser/messagechannel/index", "component/src/types",
    ],
}
# Modules that only hand on what others have.
INDEXES = {
    "app/src/public-types.ts": "",
    "app/index.ts": 'export * from "./src";',
    "auth/src/index.ts": 'export * from "./core";',
    "auth/internal/index.ts": 'export { DefaultConfig } from "../src/core/auth/auth_impl";',
    "auth/src/core/credentials/index.ts": 'export { AuthCredential } from "./auth_credential";',
    "auth/src/core/providers/saml.ts": "",
    "../idb/index.js": 'export * from "./build";',
}
VERSIONS = {"auth": "1.9.0", "firebase": "11.3.1"}


def download():
    wheel = FOLDER / WHEEL
    if not wheel.exists():
        FOLDER.mkdir(parents=True, exist_ok=True)
        subprocess.run(
            [
                sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "streamlit-firebase-auth==1.1.6",
                "-d", FOLDER,
            ],
            check=True,
        )
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    if digest != SHA256:
        raise SystemExit(f"{wheel} is not the wheel that this was written for (sha256 {digest}).")
    return wheel


def sources(wheel):
    """The SDK's modules by their path below `node_modules/`."""
    with zipfile.ZipFile(wheel) as archive:
        name = next(name for name in archive.namelist() if name.endswith(".js.map"))
        source_map = json.loads(archive.read(name))
    for source, text in zip(source_map["sources"], source_map["sourcesContent"]):
        path = source.partition("node_modules/")[2]
        if path.startswith(("@firebase/", "idb/")):
            yield path, text


def add(path, text):
    """Adds a module that the map lacks; never in the place of one of the SDK's."""
    path = pathlib.Path(os.path.normpath(SDK / "@firebase" / path))
    if path.exists():
        raise SystemExit(f"{path} is in the source map: leave it as it is.")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text + "\n")


def unpack(wheel):
    shutil.rmtree(SDK, ignore_errors=True)
    for name, text in sources(wheel):
        path = SDK / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (SDK / "tsconfig.json").write_text('{"compilerOptions": {"useDefineForClassFields": false}}\n')
    shutil.copytree(HERE / "standins", SDK / "@firebase" / "standins")
    for standin, modules in STANDINS.items():
        for module in modules:
            target = os.path.relpath(f"standins/{standin}", os.path.dirname(module))
            add(f"{module}.ts", f'export * from "{target}";')
    add_indexes()


def add_indexes():
    for path, text in INDEXES.items():
        add(path, text)
    for package in ["component", "logger", "util"]:
        names = sorted(path.stem for path in (SDK / "@firebase" / package / "src").glob("*.ts"))
        add(f"{package}/index.ts", "\n".join(f'export * from "./src/{name}";' for name in names))
    for source in list((SDK / "@firebase").rglob("*.ts")):
        for path in re.findall(r"from '(\.[^']*/package\.json)'", source.read_text()):
            path = pathlib.Path(os.path.normpath(source.parent / path))
            path.parent.mkdir(parents=True, exist_ok=True)
            name = path.parent.name
            package = {"name": "firebase" if name == "firebase" else f"@firebase/{name}", "version": VERSIONS.get(name, "0")}
            path.write_text(json.dumps(package))


def is_current():
    ours = [HERE / "bundle.py", *(HERE / "standins").iterdir()]
    return BUNDLE.exists() and BUNDLE.stat().st_mtime >= max(path.stat().st_mtime for path in ours)


def build():
    """The path of the bundle, made anew if anything that it is made of is newer."""
    if is_current():
        return BUNDLE
    unpack(download())
    made = BUNDLE.with_suffix(".new.js")
    subprocess.run(
        [
            "esbuild", SDK / "@firebase" / "standins" / "entry.ts", "--bundle", "--format=iife", "--global-name=sdk",
            "--target=es2020", "--log-level=error", f"--outfile={made}",
        ],
        env={**os.environ, "NODE_PATH": str(SDK)},
        check=True,
    )
    made.replace(BUNDLE)
    return BUNDLE


if __name__ == "__main__":
    print(build())
