/// Why the console let somebody not in.
package enum ConsoleError: Error, Sendable, Hashable {
    /// Whatever is wrong: address, password, code, or that the person may not sign in.
    case wrongCredentials
    /// It is none, was used, or is older than a day.
    case invalidSetUpCode
    /// The form of the set-up is none of ours, or was open for too long.
    case setUpOver
    case passwordTooShort
    case passwordTooLong
    /// The code of the app that is to be enrolled.
    case wrongCode
}
