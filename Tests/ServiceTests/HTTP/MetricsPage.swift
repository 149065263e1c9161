import HTTPTypes
import IdentityService
import TestKit
import Testing

/// A page of metrics, read as strictly as Prometheus does.
struct MetricsPage: Sendable {
    /// The kind of each family.
    private(set) var families: [String: String] = [:]
    /// The names of labels by family, `le` left out.
    private(set) var labels: [String: Set<String>] = [:]
    /// The values by name and labels as they stand there.
    private(set) var values: [String: Double] = [:]

    /// Families that have samples.
    var sampled: Set<String> { Set(labels.keys) }
    var series: [String] { Array(values.keys) }

    init(_ service: TestService) async throws {
        let page = try await ServiceClient(service.assembly.operations, document: nil).call(.get, "/metrics")
        page.expectOK()
        #expect(page.headers[.contentType] == "text/plain; version=0.0.4; charset=utf-8")
        var helped: Set<Substring> = []
        for line in page.body.split(separator: "\n") {
            if let help = line.wholeMatch(of: /# HELP ([a-z_]+) ([A-Z].+\.)/) {
                #expect(helped.insert(help.1).inserted, "a family stands once")
            } else if let family = line.wholeMatch(of: /# TYPE ([a-z_]+) (counter|gauge|histogram)/) {
                #expect(helped.contains(family.1), "\(line)")
                #expect(families.updateValue(String(family.2), forKey: String(family.1)) == nil)
                #expect((family.2 == "counter") == family.1.hasSuffix("_total"), "\(line)")
            } else {
                try add(line)
            }
        }
    }

    private mutating func add(_ line: Substring) throws {
        let sample = try #require(
            line.wholeMatch(of: /([a-z_]+)(\{[a-z_]+="[^"\\]*"(?:,[a-z_]+="[^"\\]*")*\})? ([0-9.e+-]+|NaN)/),
            "\(line)"
        )
        let whole = String(sample.1)
        let base = whole.replacing(/_(bucket|sum|count)$/, with: "")
        let family = families[whole] != nil ? whole : base
        #expect(families[family] != nil && (family == whole || families[family] == "histogram"), "\(line)")
        let names = (sample.2 ?? "").matches(of: /([a-z_]+)="/).map { String($0.1) }
        labels[family, default: []].formUnion(names.filter { $0 != "le" })
        #expect(values.updateValue(Double(sample.3) ?? .nan, forKey: whole + (sample.2 ?? "")) == nil, "\(line)")
    }
}
