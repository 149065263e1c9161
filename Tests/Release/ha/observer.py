"""What the database machines do themselves, looked at from inside, so that a cut network hides nothing."""

import collections
import re
import threading
import time

Probe = collections.namedtuple("Probe", "machine number began ended timeline")


class Observer:
    """Writes to every PostgreSQL over its socket, and keeps what each acknowledged.

    A write that waits is never cancelled: PostgreSQL reports a cancelled wait for the standby as a success.
    """

    def __init__(self, cluster):
        self.cluster, self.is_over, self.probes = cluster, False, []
        import psycopg2
        self.psycopg2 = psycopg2
        cluster.leader().sql("CREATE TABLE probe (machine TEXT, number INT, PRIMARY KEY (machine, number))")
        self.threads = [threading.Thread(target=self.probe, args=(machine,), daemon=True) for machine in cluster.machines]
        for thread in self.threads:
            thread.start()

    def probe(self, machine):
        connection, number = None, 0
        while not self.is_over:
            number += 1
            began = time.time()
            try:
                if connection is None:
                    connection = self.psycopg2.connect(machine.conninfo())
                    connection.autocommit = True
                with connection.cursor() as cursor:
                    cursor.execute("SELECT pg_is_in_recovery()")
                    if not cursor.fetchone()[0]:
                        cursor.execute("INSERT INTO probe VALUES (%s, %s) RETURNING "
                                       "('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int",
                                       (machine.name, number))
                        timeline = cursor.fetchone()[0]
                        if connection.notices:
                            raise self.psycopg2.OperationalError(connection.notices[0])
                        self.probes.append(Probe(machine.name, number, began, time.time(), timeline))
            except self.psycopg2.Error:
                connection = None
            time.sleep(0.2)

    def split_brain(self):
        """Writes that were acknowledged on a timeline after another one had been begun, or that are gone."""
        probes, wrong, newest = sorted(self.probes, key=lambda probe: probe.ended), [], 0
        for probe in probes:
            if probe.timeline < newest:
                wrong.append(f"{probe.machine} acknowledged a write on timeline {probe.timeline} when {newest} had begun")
            newest = max(newest, probe.timeline)
        kept = set(self.cluster.leader().sql("SELECT machine || ' ' || number FROM probe").split("\n"))
        wrong += [f"{probe.machine} acknowledged write {probe.number}, which is gone" for probe in probes
                  if f"{probe.machine} {probe.number}" not in kept]
        return wrong


def promotions(cluster, since):
    """When Patroni promoted a PostgreSQL, and when that took writes: pairs of times, oldest first, the second None if unknown."""
    found = []
    for machine in cluster.machines:
        with open(machine.patroni.log, errors="replace") as file:
            promoted = None
            for line in file:
                moment = re.match(r"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)[.,](\d{3})", line)
                if not moment:
                    continue
                at = time.mktime(time.strptime(moment[1], "%Y-%m-%d %H:%M:%S")) - time.timezone + int(moment[2]) / 1000
                if at < since:
                    continue
                if "promoted self to leader" in line:
                    promoted = at
                    found.append([promoted, None])
                elif promoted and "database system is ready to accept connections" in line and found[-1][1] is None:
                    found[-1][1] = at
    return sorted(found)
