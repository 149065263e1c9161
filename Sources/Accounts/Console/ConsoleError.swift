/// Why the console refused.
package enum ConsoleError: Error, Sendable, Hashable {
    /// The email, password or code is wrong, or the admin may not sign in.
    case wrongCredentials
    /// Unknown, used, or older than a day.
    case invalidSetUpCode
    /// The setup form is not valid or has expired.
    case setUpOver
    case passwordTooShort
    case passwordTooLong
    /// The code of the app that is being enrolled.
    case wrongCode
}
