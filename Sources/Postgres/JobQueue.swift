/// The jobs that wait for a connection, and which of them is next.
///
/// Shares take turns (start-time fair queueing): the jobs of one share are one turn apart, and a share that comes to the
/// queue has the next turn, however many of another wait. Jobs without a share wait for nobody's turn. Every fourth time, the
/// job that has waited longest is next, so none waits for ever.
struct JobQueue {
    private struct Entry {
        /// The lowest is next.
        let turn: Int
        let job: Job
    }

    private struct Share {
        var count = 0
        /// Of the next job.
        var turn = 0
    }

    /// In the order of arrival.
    private var entries: [Entry] = []
    private var shares: [String: Share] = [:]
    /// That of the last job that was taken.
    private var turn = 0
    private var taken = 0
    private let limit: Int

    /// - Parameter limit: the maximum number of jobs; of one share, a quarter.
    init(limit: Int) { self.limit = limit }

    var isEmpty: Bool { entries.isEmpty }
    var count: Int { entries.count }
    /// That of the job that has waited longest.
    var since: ContinuousClock.Instant? { entries.first?.job.since }

    /// - Returns: false if there is no room, in total or in the job's share.
    mutating func insert(_ job: Job) -> Bool {
        guard entries.count < limit else { return false }
        var turn = turn
        if let name = job.share {
            var share = shares[name, default: Share()]
            guard share.count < max(1, limit / 4) else { return false }
            if shares.count > limit { shares = shares.filter { $0.value.count > 0 || $0.value.turn > self.turn } }
            turn = max(turn, share.turn)
            share = Share(count: share.count + 1, turn: turn + 1)
            shares[name] = share
        }
        entries.append(Entry(turn: turn, job: job))
        return true
    }

    mutating func next() -> Job? {
        // The first of those with the lowest turn.
        guard let first = entries.indices.min(by: { entries[$0].turn < entries[$1].turn }) else { return nil }
        taken += 1
        let index = taken.isMultiple(of: 4) ? 0 : first
        turn = max(turn, entries[first].turn)
        return remove(at: index)
    }

    mutating func remove(_ job: Job) {
        guard let index = entries.firstIndex(where: { $0.job === job }) else { return }
        _ = remove(at: index)
    }

    /// - Returns: all of them.
    mutating func removeAll() -> [Job] {
        defer { (entries, shares) = ([], [:]) }
        return entries.map(\.job)
    }

    private mutating func remove(at index: Int) -> Job {
        let job = entries.remove(at: index).job
        if let name = job.share, var share = shares[name] {
            share.count -= 1
            // Its next job waits for its turn even if it comes when this one has gone.
            shares[name] = share.count > 0 || share.turn > turn ? share : nil
        }
        if entries.isEmpty { shares = [:] }
        return job
    }
}
