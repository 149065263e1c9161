import Sessions
import Testing

/// The dates of signing keys, and what follows from them.
@Suite struct SigningKeyTimelineTests {
    private typealias Timeline = SigningKeyTimeline

    private static let day: Int64 = 86_400
    private static let start: Int64 = 1_800_000_000
    private static let idTokens = Timeline.Slot(purpose: .idToken, algorithm: .rs256)
    private static let cookies = Timeline.Slot(purpose: .sessionCookie, algorithm: .rs256)
    private static let curves = Timeline.Slot(purpose: .idToken, algorithm: .es256)

    private func key(_ kid: String, _ slot: Timeline.Slot, _ activeFrom: Int64, signs: Bool = true) -> Timeline.Key {
        Timeline.Key(kid: kid, slot: slot, createdAt: activeFrom, activeFrom: activeFrom, signs: signs)
    }

    /// One key for each slot since the start.
    private var first: [Timeline.Key] {
        [key("a", Self.idTokens, Self.start), key("b", Self.cookies, Self.start), key("c", Self.curves, Self.start)]
    }

    @Test func aKeyForEachPurposeAndAlgorithmIsMadeAtOnce() {
        let change = Timeline([]).due(at: Self.start, every: nil)
        #expect(change.made == [Self.idTokens: Self.start, Self.cookies: Self.start, Self.curves: Self.start])
        #expect(Timeline(first).due(at: Self.start + 5000 * Self.day, every: nil).isEmpty)
    }

    @Test(
        "the next key is published a day before the current one's time is over, or before it signs",
        arguments: [1, 2, 90]
    )
    func schedule(_ days: Int64) {
        let (timeline, period) = (Timeline(first), days * Self.day)
        #expect(days == 1 || timeline.due(at: Self.start + period - Self.day - 1, every: period).isEmpty)
        let inTime = timeline.due(at: Self.start + period - Self.day, every: period)
        #expect(inTime.made == Dictionary(uniqueKeysWithValues: Timeline.Slot.all.map { ($0, Self.start + period) }))
        let late = timeline.due(at: Self.start + period + 7, every: period)
        #expect(late.made[Self.idTokens] == Self.start + period + 7 + Self.day)
        let next = Timeline(first + [key("d", Self.idTokens, Self.start + period)])
        #expect(next.due(at: Self.start + period - 1, every: period).made[Self.idTokens] == nil)
    }

    @Test("a key's tokens verify until they expire, and then the key is deleted")
    func ends() {
        let change = Self.start + 90 * Self.day
        let keys = first + [key("d", Self.idTokens, change), key("e", Self.cookies, change)]
        let timeline = Timeline(keys)
        #expect(timeline.state(of: keys[0], at: change - 1) == .current)
        #expect(timeline.state(of: keys[3], at: change - 1) == .next)
        #expect(timeline.state(of: keys[0], at: change) == .retired)
        #expect(timeline.state(of: keys[3], at: change) == .current)
        #expect(timeline.state(of: keys[2], at: change) == .current)
        #expect(timeline.due(at: change + 3599, every: nil).isEmpty)
        #expect(timeline.due(at: change + 3600, every: nil).erased == ["a", "b"])
        // An application's access token of the last moment, by the slowest clock, is over long before.
        #expect(timeline.due(at: change + Self.day + 3599, every: nil).removed == [])
        #expect(timeline.due(at: change + Self.day + 3600, every: nil).removed == ["a"])
        #expect(timeline.due(at: change + 14 * Self.day + 3599, every: nil).removed == ["a"])
        #expect(timeline.due(at: change + 14 * Self.day + 3600, every: nil).removed == ["a", "b"])
        let erased = Timeline([key("b", Self.cookies, Self.start, signs: false), keys[4], keys[0], keys[2]])
        #expect(erased.due(at: change + 3600, every: nil).isEmpty)
    }

    @Test func rotationByCommandWaitsForTheNextKeyThatThereIs() {
        let now = Self.start + 5
        #expect(Timeline(first).rotation(at: now).made[Self.cookies] == now + Self.day)
        let next = Timeline(first + [key("d", Self.cookies, now + 1)])
        #expect(Set(next.rotation(at: now).made.keys) == [Self.idTokens, Self.curves])
    }

    @Test func revocationPutsTheNextKeyOrANewOneInItsPlace() {
        let now = Self.start + 5
        #expect(Timeline(first).revocation(of: "x", at: now) == nil)
        var change = Timeline.Change()
        change.removed = ["a"]
        change.made = [Self.idTokens: now]
        #expect(Timeline(first).revocation(of: "a", at: now) == change)
        let keys = first + [key("d", Self.idTokens, now + 50), key("o", Self.idTokens, Self.start - 9)]
        change.made = [:]
        change.promoted = ["d"]
        #expect(Timeline(keys).revocation(of: "a", at: now) == change)
        for other in ["d", "o"] {
            var change = Timeline.Change()
            change.removed = [other]
            #expect(Timeline(keys).revocation(of: other, at: now) == change)
        }
    }
}
