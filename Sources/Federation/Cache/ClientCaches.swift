import Foundation
import Outbound
import Synchronization

/// What the applications of each project publish.
///
/// It has few places for a project, apart from those of identity providers: anybody may be an application, and must not
/// push out what sign-ins need (threats.md, T-F19).
final class ClientCaches: Sendable {
    struct OfProject: Sendable {
        let documents: FetchCache<ClientAnswer>
        let keySets: FetchCache<ProviderKeySet>
    }

    /// The places of a project for each kind.
    static let capacity = 16

    private let refetchInterval: TimeInterval
    private let now: @Sendable () -> Date
    private let caches = Mutex<[String: OfProject]>([:])

    init(refetchInterval: TimeInterval, now: @escaping @Sendable () -> Date) {
        (self.refetchInterval, self.now) = (refetchInterval, now)
    }

    /// Those of the project for which is called.
    var current: OfProject {
        let project = OutboundShare.current ?? ""
        return caches.withLock { caches in
            let found = caches[project] ?? make()
            caches[project] = found
            return found
        }
    }

    private func make() -> OfProject {
        // A document that was read is stored elsewhere; only its second reading in a row is spared.
        var answers = FetchCache<ClientAnswer>.Settings()
        answers.lifetimes = refetchInterval...refetchInterval
        answers.maximumStale = 0
        answers.capacity = Self.capacity
        var keys = FetchCache<ProviderKeySet>.Settings()
        keys.minimumInterval = refetchInterval
        keys.capacity = Self.capacity
        return OfProject(
            documents: FetchCache(settings: answers, now: now),
            keySets: FetchCache(settings: keys, now: now)
        )
    }
}

/// What the URL of a client's document answered.
package enum ClientAnswer: Sendable {
    case found([UInt8])
    /// Something else than a document.
    case none
    /// Nothing, or what says nothing about the document.
    case unreachable
}
