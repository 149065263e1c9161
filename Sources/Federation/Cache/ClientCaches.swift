import Foundation
import Outbound
import Synchronization

/// What the applications of each project publish.
///
/// A project's places are apart from those of identity providers, and those of strangers' applications apart from those
/// of admins': anybody may be an application, and must not push out what others need (threats.md, T-F19). The two are
/// read from different addresses, too, so what a stranger could not read says nothing about an admin's application.
final class ClientCaches: Sendable {
    struct OfProject: Sendable {
        let documents: FetchCache<ClientAnswer>
        let keySetsOfAdmins: FetchCache<ProviderKeySet>
        let keySetsOfStrangers: FetchCache<ProviderKeySet>
    }

    /// The places of a project for strangers' documents, and for their keys.
    static let capacity = 16
    /// Those for the keys of applications that admins chose.
    static let capacityOfAdmins = 256
    /// How long a stranger's keys are kept at most, in seconds, whatever the answer says: all have the same chances.
    static let longestOfStrangers: TimeInterval = 3_600

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
        keys.capacity = Self.capacityOfAdmins
        var strangers = keys
        strangers.lifetimes = keys.lifetimes.lowerBound...Self.longestOfStrangers
        strangers.capacity = Self.capacity
        return OfProject(
            documents: FetchCache(settings: answers, now: now),
            keySetsOfAdmins: FetchCache(settings: keys, now: now),
            keySetsOfStrangers: FetchCache(settings: strangers, now: now)
        )
    }
}

/// What the URL of a client's document answered.
package enum ClientAnswer: Sendable {
    case found([UInt8])
    /// The site says that there is no document.
    case gone
    /// Nothing, or what says nothing about the document, such as a filter's or a login page.
    case unreachable
}
