package import StrictJSON

/// A way for an endpoint to misbehave.
package enum ProviderFault: Sendable {
    /// Another response; the request isn't processed (a code stays valid).
    case answer(ProviderAnswer)
    /// A status with a short text; the request isn't processed.
    case status(Int, headers: [(name: String, value: String)] = [])
    case redirect(to: String, status: Int = 302)
    /// Cuts the connection before the first byte; the request isn't processed.
    case reset
    /// Processes the request, then cuts the connection in the middle of the body.
    case resetInBody
    /// Waits at the gate before processing the request.
    case held(TestGate)
    /// Sends the headers and half of the body, and holds the rest at the gate.
    case heldInBody(TestGate)
    /// Sends white space endlessly, until the client disconnects.
    case endless
    /// Processes the request and responds with other bytes.
    case body([UInt8], contentType: String? = nil)
    case contentType(String)
    case headers([(name: String, value: String)])
    /// Processes the request and changes members of the JSON (or form) response.
    case members(set: JSONObject = [:], remove: Set<String> = [])
    case rewrite(@Sendable (ProviderAnswer) -> ProviderAnswer)
}

extension ProviderFault {
    /// The response that replaces the endpoint's processing; nil when the request is processed.
    var substitute: ProviderAnswer? {
        switch self {
        case .answer(let answer): answer
        case .status(let status, let headers): ProviderAnswer(status, headers: headers, .text("status \(status)"))
        case .redirect(let location, let status):
            ProviderAnswer(status, headers: [("Location", location)], .empty)
        case .reset, .endless: ProviderAnswer(.empty)
        case .resetInBody, .held, .heldInBody, .body, .contentType, .headers, .members, .rewrite: nil
        }
    }

    func change(_ answer: inout ProviderAnswer) {
        switch self {
        case .body(let bytes, let contentType):
            if let type = contentType ?? answer.completeHeaders.first(where: { $0.name == "Content-Type" })?.value {
                answer.setHeader("Content-Type", type)
            }
            answer.body = .bytes(bytes)
        case .contentType(let type): answer.setHeader("Content-Type", type)
        case .headers(let headers): answer.headers += headers
        case .members(let set, let remove):
            switch answer.body {
            case .json(.object(let object)): answer.body = .json(.object(object.changed(set: set, remove: remove)))
            case .form(let object): answer.body = .form(object.changed(set: set, remove: remove))
            case .json, .html, .text, .bytes, .empty: break
            }
        case .rewrite(let rewrite): answer = rewrite(answer)
        case .answer, .status, .redirect, .reset, .resetInBody, .held, .heldInBody, .endless: break
        }
    }
}
