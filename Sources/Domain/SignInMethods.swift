/// Whether a sign-in method may be removed from an account.
package enum SignInMethods {
    /// True if a usable method remains after the removal, or if the account had none of the removed ones.
    ///
    /// - Parameters:
    ///   - removed: the methods to remove.
    ///   - methods: all that the account has: linked providers, `password` and `phone`.
    ///   - usable: those that the project has enabled.
    ///   - emailRecovers: the account's email is verified, and email link or password reset is on.
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
    ///   - authTime: when the session signed in, in seconds since 1970; a refresh does not change it.
    ///   - now: seconds since 1970.
    ///   - window: seconds; zero or less means that no operation requires a recent sign-in.
    package static func isRecent(authTime: Int64, now: Int64, window: Int64) -> Bool {
        window <= 0 || now - authTime <= window
    }
}
