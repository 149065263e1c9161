/// One server of a connection string.
struct Server: Sendable {
    /// Its position in the string.
    let index: Int
    /// Keywords and values as `PQconnectdbParams` takes them.
    let pairs: [(keyword: String, value: String)]

    /// The keywords that list servers, one value for each.
    private static let lists: Set = ["host", "hostaddr", "port"]

    /// How many servers a string names; 0 if it leaves that to the environment.
    static func count(in pairs: [(keyword: String, value: String)]) -> Int {
        pairs.filter { ["host", "hostaddr"].contains($0.keyword) }.map { list($0.value).count }.max() ?? 0
    }

    /// One for each of the hosts, as libpq reads their lists, if it would try one after another.
    static func split(_ pairs: [(keyword: String, value: String)], into count: Int) -> [Server] {
        let whole = [Server(index: 0, pairs: pairs)]
        let isOrdered = pairs.allSatisfy { keyword, value in
            switch keyword {
            case "target_session_attrs": value != "prefer-standby"
            case "load_balance_hosts": value == "disable"
            case "host", "hostaddr": list(value).count == count
            case "port": [1, count].contains(list(value).count)
            default: true
            }
        }
        guard count > 1, isOrdered else { return whole }
        return (0..<count).map { index in
            Server(
                index: index,
                pairs: pairs.map { keyword, value in
                    guard lists.contains(keyword) else { return (keyword, value) }
                    let values = list(value)
                    return (keyword, values.count == 1 ? values[0] : values[index])
                }
            )
        }
    }

    private static func list(_ text: String) -> [String] {
        text.split(separator: ",", omittingEmptySubsequences: false).map { String($0) }
    }

    /// Calls C with two NULL-terminated arrays.
    func withCStrings<R>(
        _ body: (_ keywords: [UnsafePointer<CChar>?], _ values: [UnsafePointer<CChar>?]) -> R
    ) -> R {
        var bytes: [CChar] = []
        var offsets: [Int] = []
        for (keyword, value) in pairs {
            for text in [keyword, value] {
                offsets.append(bytes.count)
                bytes += text.utf8CString
            }
        }
        return bytes.withUnsafeBufferPointer { buffer in
            let pointers = offsets.map { offset in buffer.baseAddress.map { $0 + offset } }
            let keywords = stride(from: 0, to: pointers.count, by: 2).map { pointers[$0] } + [nil]
            let values = stride(from: 1, to: pointers.count, by: 2).map { pointers[$0] } + [nil]
            return body(keywords, values)
        }
    }
}
