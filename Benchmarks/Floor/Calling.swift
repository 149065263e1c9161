import AsyncHTTPClient
import Foundation

enum Calling {
    /// Posts a form of the size of a code exchange, over and over, with the HTTP client that the service uses.
    ///
    /// - Returns: how many calls there were; 0 when one failed.
    static func run(url: String, until end: Date) async -> Int {
        var configuration = HTTPClient.Configuration()
        configuration.redirectConfiguration = .disallow
        let client = HTTPClient(configuration: configuration)
        let code = String(repeating: "c", count: 750)
        let form =
            "grant_type=authorization_code&code=\(code)&redirect_uri=http%3A%2F%2Flocalhost%2Fcallback"
            + "&code_verifier=" + String(repeating: "v", count: 43)
        var request = HTTPClientRequest(url: url)
        request.method = .POST
        request.headers = [
            "accept": "application/json", "content-type": "application/x-www-form-urlencoded",
            "authorization": "Basic " + Data("bench-client:bench-secret".utf8).base64EncodedString(),
        ]
        request.body = .bytes(Array(form.utf8), length: .known(Int64(form.utf8.count)))
        let counts = await withTaskGroup(of: Int?.self) { [request] group in
            for _ in 0..<64 {
                group.addTask {
                    var calls = 0
                    while Date() < end {
                        guard let response = try? await client.execute(request, timeout: .seconds(10)),
                            response.status == .ok, (try? await response.body.collect(upTo: 1 << 20)) != nil
                        else { return nil }
                        calls += 1
                    }
                    return calls
                }
            }
            return await group.reduce(into: [Int?]()) { $0.append($1) }
        }
        try? await client.shutdown()
        return counts.contains(nil) ? 0 : counts.reduce(0) { $0 + ($1 ?? 0) }
    }
}
