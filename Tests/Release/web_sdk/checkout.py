"""Bundles a checkout of firebase-js-sdk as `window.sdk`, for what the sources of `bundle.py` do not have.

FIREBASE_JS_SDK names the folder: of a clone of github.com/firebase/firebase-js-sdk, or of its git directory.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess

import bundle

FOLDER = bundle.FOLDER / "checkout"
BUNDLE = FOLDER / "firebase.js"
PACKAGES = ["app", "auth", "component", "logger", "util"]
ENTRY = 'export * from "@firebase/app";\nexport * from "@firebase/auth";\n'


def unpack(repository):
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    paths = [f"packages/{name}" for name in [*PACKAGES, "firebase/package.json"]]
    archive = subprocess.run(["git", "-C", repository, "archive", "HEAD", *paths], stdout=subprocess.PIPE, check=True)
    subprocess.run(["tar", "x", "-C", FOLDER], input=archive.stdout, check=True)
    (FOLDER / "packages").rename(FOLDER / "@firebase")
    for name in PACKAGES:
        folder = FOLDER / "@firebase" / name
        main = "index.ts" if (folder / "index.ts").exists() else "src/index.ts"
        version = json.loads((folder / "package.json").read_text())["version"]
        (folder / "package.json").write_text(json.dumps({"name": f"@firebase/{name}", "version": version, "main": main}))
    for source in (FOLDER / "@firebase").rglob("*.ts"):
        for path in re.findall(r"from '(\.[^']*/package\.json)'", source.read_text()):
            missing = pathlib.Path(os.path.normpath(source.parent / path))
            if not missing.exists():
                missing.parent.mkdir(parents=True, exist_ok=True)
                missing.write_text(json.dumps({"name": missing.parent.name, "version": "0"}))


def build(repository):
    """The path of the bundle."""
    bundle.build()  # `idb` comes from there.
    unpack(repository)
    shutil.copytree(bundle.SDK / "idb", FOLDER / "idb")
    (FOLDER / "tsconfig.json").write_text('{"compilerOptions": {"useDefineForClassFields": false}}\n')
    entry = FOLDER / "entry.ts"
    entry.write_text(ENTRY)
    subprocess.run(
        [
            "esbuild", entry, "--bundle", "--format=iife", "--global-name=sdk", "--target=es2020", "--log-level=error",
            f"--outfile={BUNDLE}",
        ],
        env={**os.environ, "NODE_PATH": str(FOLDER)},
        check=True,
    )
    return BUNDLE
