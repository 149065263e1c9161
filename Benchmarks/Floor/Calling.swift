import Foundation
import HTTPTypes
import Outbound

enum Calling {
    /// Posts a form of the size of a code exchange, over and over.
    ///
    /// - Returns: how many calls there were; 0 when one failed.
    static func run(url: String, until end: Date) async -> Int {
        let client = OutboundClient(allowsLoopback: true)
        let code = String(repeating: "c", count: 750)
        let form =
            "grant_type=authorization_code&code=\(code)&redirect_uri=http%3A%2F%2Flocalhost%2Fcallback"
            + "&code_verifier=" + String(repeating: "v", count: 43)
        let request = OutboundRequest(
            method: .post,
            url: url,
            headers: [
                .accept: "application/json", .contentType: "application/x-www-form-urlencoded",
                .authorization: "Basic " + Data("bench-client:bench-secret".utf8).base64EncodedString(),
            ],
            body: Array(form.utf8)
        )
        let counts = await withTaskGroup(of: Int?.self) { group in
            for _ in 0..<64 {
                group.addTask {
                    var calls = 0
                    while Date() < end {
                        guard let response = try? await client.send(request), response.status == 200 else { return nil }
                        calls += 1
                    }
                    return calls
                }
            }
            return await group.reduce(into: [Int?]()) { $0.append($1) }
        }
        await client.shutdown()
        return counts.contains(nil) ? 0 : counts.reduce(0) { $0 + ($1 ?? 0) }
    }
}
