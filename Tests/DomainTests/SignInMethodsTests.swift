import Domain
import Testing

@Suite("Removing sign-in methods")
struct SignInMethodsTests {
    struct Removal: Sendable, CustomTestStringConvertible {
        var name: String
        var removed: Set<ProviderID>
        var methods: Set<ProviderID>
        var usable: Set<ProviderID> = [.password, .google, .github]
        var emailRecovers = false
        var allowed: Bool
        var testDescription: String { name }
    }

    static let removals: [Removal] = [
        Removal(name: "one of two", removed: [.google], methods: [.google, .password], allowed: true),
        Removal(name: "the only one", removed: [.google], methods: [.google], allowed: false),
        Removal(name: "both", removed: [.google, .password], methods: [.google, .password], allowed: false),
        Removal(
            name: "what is left is switched off",
            removed: [.google],
            methods: [.google, .apple],
            allowed: false
        ),
        Removal(
            name: "what goes is switched off, what is left is not",
            removed: [.apple],
            methods: [.google, .apple],
            allowed: true
        ),
        Removal(
            name: "all are switched off, and one would be left",
            removed: [.apple],
            methods: [.apple, .phone],
            allowed: false
        ),
        Removal(
            name: "the address recovers",
            removed: [.google],
            methods: [.google],
            emailRecovers: true,
            allowed: true
        ),
        Removal(name: "one that is not there", removed: [.github], methods: [.google], allowed: true),
        Removal(name: "one that is not there, from none", removed: [.github], methods: [], allowed: true),
        Removal(name: "nothing", removed: [], methods: [.google], usable: [], allowed: true),
        Removal(name: "one of three", removed: [.github], methods: [.google, .github, .password], allowed: true),
        Removal(
            name: "one that is there and one that is not",
            removed: [.google, .apple],
            methods: [.google],
            allowed: false
        ),
    ]

    @Test("T-A13: the last usable method stays", arguments: removals)
    func keepsTheLast(removal: Removal) {
        let allowed = SignInMethods.mayRemove(
            removal.removed,
            from: removal.methods,
            usable: removal.usable,
            emailRecovers: removal.emailRecovers
        )
        #expect(allowed == removal.allowed)
    }

    @Test("every allowed removal leaves a usable account")
    func everyCombination() {
        let all: [ProviderID] = [.password, .google, .github, .phone]
        func subset(_ bits: Int) -> Set<ProviderID> {
            Set(all.indices.filter { bits & (1 << $0) != 0 }.map { all[$0] })
        }
        for removed in 0..<16 {
            for methods in 0..<16 {
                for usable in 0..<16 {
                    let allowed = SignInMethods.mayRemove(
                        subset(removed),
                        from: subset(methods),
                        usable: subset(usable),
                        emailRecovers: false
                    )
                    let takesSomething = removed & methods != 0
                    let leavesUsable = methods & ~removed & usable != 0
                    #expect(allowed == (!takesSomething || leavesUsable))
                }
            }
        }
    }
}

@Suite("Recent sign-in")
struct RecentSignInTests {
    struct Moment: Sendable, CustomTestStringConvertible {
        var age: Int64
        var window: Int64
        var recent: Bool
        var testDescription: String { "\(age) s, window \(window) s" }
    }

    @Test(
        "T-A15: a sign-in is recent within its window, to the second",
        arguments: [
            Moment(age: 0, window: 300, recent: true), Moment(age: 299, window: 300, recent: true),
            Moment(age: 300, window: 300, recent: true), Moment(age: 301, window: 300, recent: false),
            Moment(age: 360, window: 300, recent: false), Moment(age: 1_000_000, window: 300, recent: false),
            Moment(age: -5, window: 300, recent: true), Moment(age: 1_000_000, window: 0, recent: true),
            Moment(age: 1_000_000, window: -1, recent: true), Moment(age: 1, window: 1, recent: true),
            Moment(age: 2, window: 1, recent: false),
        ]
    )
    func isRecent(moment: Moment) {
        let now: Int64 = 1_800_000_000
        let recent = RecentSignIn.isRecent(authTime: now - moment.age, now: now, window: moment.window)
        #expect(recent == moment.recent)
    }
}
