import Foundation
import IdentityClient

// One of the processes that share a session: refreshes until it is killed, and says so if the session is lost.
//
//     refresh-worker URL STORE

let arguments = CommandLine.arguments
guard arguments.count == 3, let url = URL(string: arguments[1]) else { exit(64) }
let auth = try Auth(url: url, apiKey: "any", storage: FileSessionStorage(file: URL(fileURLWithPath: arguments[2])))
while true {
    guard let user = auth.currentUser else {
        print("signed out")
        exit(1)
    }
    do { _ = try await user.idToken(forcingRefresh: true) } catch .unavailable {
        continue
    } catch {
        print("lost: \(error)")
        exit(1)
    }
}
