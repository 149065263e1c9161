/// Whether a sign-in method may be taken from an account.
package enum SignInMethods {
    /// True when a usable method is left after the removal, or when none of the removed ones was there.
    ///
    /// - Parameters:
    ///   - removed: the methods to take away.
    ///   - methods: all that the account has, linked providers, `password` and `phone`.
    ///   - usable: those that the project has switched on.
    ///   - emailRecovers: the account's address is verified, and email link or password reset is on.
    package static func mayRemove(
        _ removed: Set<ProviderID>,
        from methods: Set<ProviderID>,
        usable: Set<ProviderID>,
        emailRecovers: Bool
    ) -> Bool {
        if methods.isDisjoint(with: removed) { return true }
        return emailRecovers || !methods.subtracting(removed).isDisjoint(with: usable)
    }
}

/// Whether a sign-in is recent enough for a sensitive operation.
package enum RecentSignIn {
    /// - Parameters:
    ///   - authTime: when the session signed in, in seconds since 1970; a refresh does not move it.
    ///   - now: seconds since 1970.
    ///   - window: seconds; zero or less means that no operation asks for it.
    package static func isRecent(authTime: Int64, now: Int64, window: Int64) -> Bool {
        window <= 0 || now - authTime <= window
    }
}
