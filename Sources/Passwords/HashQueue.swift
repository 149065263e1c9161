/// The hashes that run and wait, and which of them is next.
///
/// Next is the project with the fewest running hashes, and of several the one that has used the least time; in a project
/// the same is true of networks. So slow hashes of one project, or many of one network, delay those of others by no more
/// than the hash that runs (threats.md, T-E35).
struct HashQueue<Job> {
    private let capacity: Int
    private let shareLimit: Int
    private var projects: [String?: Project] = [:]
    /// Running and waiting ones, over all projects.
    private var networks: [String: Int] = [:]
    /// What a project that comes now counts as having used.
    private var floor = Duration.zero
    private var arrivals = 0
    /// The number of those that run or wait.
    private(set) var count = 0

    init(capacity: Int, shareLimit: Int) {
        self.capacity = capacity
        self.shareLimit = shareLimit
    }

    /// - Returns: false if there is no room, in total or in the share.
    mutating func insert(_ job: Job, of share: HashShare) -> Bool {
        guard count < capacity else { return false }
        let project = projects[share.project]
        if share.project != nil, project?.count ?? 0 >= shareLimit { return false }
        if let network = share.network {
            // One network keeps out neither other projects nor the others of its own.
            guard networks[network, default: 0] < shareLimit,
                project?.held[network, default: 0] ?? 0 < max(1, shareLimit / 4)
            else { return false }
            networks[network, default: 0] += 1
        }
        count += 1
        arrivals += 1
        projects[share.project, default: Project()].insert(Entry(number: arrivals, share: share, job: job))
        return true
    }

    /// Takes the next one, which runs now; nil if none waits.
    mutating func next() -> (job: Job, share: HashShare)? {
        let first = projects.compactMap { name, project in
            project.waiting.first.map { (name: name, rank: project.turn.rank(from: floor, $0.number)) }
        }
        .min { $0.rank < $1.rank }
        guard let first, let entry = projects[first.name]?.next(from: floor) else { return nil }
        floor = max(floor, projects[first.name]?.turn.used ?? floor)
        return (entry.job, entry.share)
    }

    /// Ends one that ran for a time, which counts against its share until the others have had as much.
    mutating func end(_ share: HashShare, after time: Duration) {
        count -= 1
        if let network = share.network, let count = networks[network] {
            networks[network] = count > 1 ? count - 1 : nil
        }
        projects[share.project]?.end(share.network, after: time)
        projects = projects.filter { $0.value.count > 0 || count > 0 && $0.value.turn.used > floor }
    }

    private struct Entry {
        /// In the order of arrival.
        let number: Int
        let share: HashShare
        let job: Job
    }

    private struct Turn {
        var running = 0
        var used = Duration.zero

        /// The lowest is next.
        func rank(from floor: Duration, _ number: Int) -> (Int, Duration, Int) { (running, max(used, floor), number) }

        mutating func begin(from floor: Duration) {
            running += 1
            used = max(used, floor)
        }

        mutating func end(after time: Duration) {
            running -= 1
            used += time
        }
    }

    private struct Project {
        private(set) var waiting: [Entry] = []
        private(set) var count = 0
        /// Running and waiting ones of each network.
        private(set) var held: [String: Int] = [:]
        private(set) var turn = Turn()
        private var networks: [String?: Turn] = [:]
        private var floor = Duration.zero

        mutating func insert(_ entry: Entry) {
            count += 1
            if let network = entry.share.network { held[network, default: 0] += 1 }
            waiting.append(entry)
        }

        mutating func next(from start: Duration) -> Entry? {
            let ranks = waiting.map { networks[$0.share.network, default: Turn()].rank(from: floor, $0.number) }
            guard let index = ranks.indices.min(by: { ranks[$0] < ranks[$1] }) else { return nil }
            turn.begin(from: start)
            floor = max(floor, ranks[index].1)
            networks[waiting[index].share.network, default: Turn()].begin(from: floor)
            return waiting.remove(at: index)
        }

        mutating func end(_ network: String?, after time: Duration) {
            count -= 1
            if let network, let count = held[network] { held[network] = count > 1 ? count - 1 : nil }
            turn.end(after: time)
            networks[network]?.end(after: time)
            networks = networks.filter { $0.value.running > 0 || $0.value.used > floor }
        }
    }
}
