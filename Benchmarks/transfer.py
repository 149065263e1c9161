"""How fast accounts move in and out by command: `identity import firebase` of a file, and `identity export` beside COPY of
the same rows. Run it by `make bench-transfer`.
"""

import argparse
import base64
import json
import os
import resource
import subprocess
import tempfile
import time

import bench
from import_accounts import account

PROJECT = "bench-transfer"
# What an export reads.
ROWS = f"""
    SELECT a.*, v.last_sign_in_at, v.last_refresh_at, l.provider, l.subject, l.email, l.display_name, l.photo_url, l.screen_name
    FROM accounts a LEFT JOIN account_activity v USING (project, tenant, account)
    LEFT JOIN linked_credentials l USING (project, tenant, account)
    WHERE a.project = '{PROJECT}' ORDER BY a.account
"""


def timed(command, environment, output=None):
    """Seconds, and the peak of memory in MB of the largest child so far."""
    began = time.perf_counter()
    done = subprocess.run(command, env=environment, stdout=output or subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        bench.fail(f"{' '.join(command)}: {done.stdout} {done.stderr}")
    return time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024


def write_users(path, count):
    with open(path, "w") as file:
        file.write('{"users": [\n')
        for number in range(count):
            file.write((",\n" if number else "") + json.dumps(account(number)))
        file.write("\n]}\n")


def multiply(postgres, count, rows):
    """Copies the accounts that are there until there are so many."""
    for start in range(count, rows, count):
        take = min(count, rows - start)
        renamed = lambda column: f"{column} || '-{start}'"
        source = f"project = '{PROJECT}' AND account IN (SELECT account FROM imported LIMIT {take})"
        for table, keys in [("accounts", ["account", "email"]), ("account_activity", ["account"]),
                            ("linked_credentials", ["account", "subject"])]:
            columns = postgres.sql(f"SELECT string_agg(column_name, ',' ORDER BY ordinal_position) FROM information_schema"
                                   f".columns WHERE table_name = '{table}' AND is_generated = 'NEVER'").split(",")
            values = ", ".join(renamed(column) if column in keys else column for column in columns)
            postgres.sql(f"INSERT INTO {table} ({', '.join(columns)}) SELECT {values} FROM {table} WHERE {source}")
    postgres.sql("VACUUM ANALYZE")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--accounts", type=int, default=100_000, help="that are imported")
    parser.add_argument("--rows", type=int, default=1_000_000, help="that are exported")
    parser.add_argument("--program", default=".build/release/identity")
    options = parser.parse_args()
    conninfo = os.environ["DATABASE_URL"]
    service = bench.Service(options.program, conninfo)
    service.run("migrate")
    service.run("projects", "create", PROJECT)
    postgres = bench.PostgreSQL(conninfo)
    with tempfile.TemporaryDirectory() as folder:
        users = f"{folder}/users.json"
        write_users(users, options.accounts)
        with open(f"{folder}/users.hash-config.json", "w") as file:
            key = base64.b64encode(bytes(range(64))).decode()
            json.dump({"hashAlgorithm": "SCRYPT", "signerKey": key, "saltSeparator": "Bw==", "rounds": 8, "memoryCost": 14}, file)
        print(f"{'':<26}{'accounts':>10}{'seconds':>9}{'per s':>9}{'peak MB':>9}")
        line = lambda name, count, seconds, mb: print(f"{name:<26}{count:>10,}{seconds:>9.1f}{count / seconds:>9,.0f}{mb:>9.0f}", flush=True)
        command = [options.program, "import", "firebase", users, "--project", PROJECT]
        line("import", options.accounts, *timed(command, service.environment))
        line("the same again", options.accounts, *timed(command, service.environment))
        postgres.sql(f"CREATE TABLE imported AS SELECT account FROM accounts WHERE project = '{PROJECT}'")
        multiply(postgres, options.accounts, options.rows)
        export = [options.program, "export", f"{folder}/out", "--project", PROJECT]
        line("export", options.rows, *timed(export, service.environment))
        with open(f"{folder}/copy", "w") as file:
            copy = ["psql", "-X", "-q", "-d", conninfo, "-c", f"COPY ({ROWS}) TO STDOUT"]
            line("COPY … TO of the same", options.rows, *timed(copy, dict(os.environ), file))


if __name__ == "__main__":
    main()
