import Requests
import Testing

@Suite("Trace context")
struct TraceContextTests {
    private static let trace = "4bf92f3577b34da6a3ce929d0e0e4736"
    private static let parent = "00f067aa0ba902b7"

    @Test("a valid parent is taken, and passed on with a new parent id and the flags that we know")
    func passesOn() throws {
        for (flags, passed) in [("00", "00"), ("01", "01"), ("02", "00"), ("ff", "01")] {
            let context = try #require(TraceContext(parent: ["00-\(Self.trace)-\(Self.parent)-\(flags)"]))
            #expect(context.id == Self.trace)
            let first = context.parent()
            #expect(first.hasPrefix("00-\(Self.trace)-") && first.hasSuffix("-\(passed)") && first.utf8.count == 55)
            #expect(!first.contains(Self.parent))
            #expect(first != context.parent(), "each call is a parent of its own")
            #expect(TraceContext(parent: [first])?.id == Self.trace)
        }
    }

    @Test("a later version counts for what this one knows of it")
    func laterVersions() {
        #expect(TraceContext(parent: ["cc-\(Self.trace)-\(Self.parent)-01"])?.id == Self.trace)
        #expect(TraceContext(parent: ["cc-\(Self.trace)-\(Self.parent)-01-what-comes"])?.id == Self.trace)
        #expect(TraceContext(parent: ["cc-\(Self.trace)-\(Self.parent)-01what-comes"]) == nil)
    }

    @Test(
        "anything else is none",
        arguments: [
            "", "00", "00-\(trace)-\(parent)", "00-\(trace)-\(parent)-0", "00-\(trace)-\(parent)-01-",
            "00-\(trace)-\(parent)-01-x", "ff-\(trace)-\(parent)-01", "0-\(trace)-\(parent)-01",
            "00-\(trace.uppercased())-\(parent)-01", "00-00000000000000000000000000000000-\(parent)-01",
            "00-\(trace)-0000000000000000-01", "00-\(trace)-\(parent)-0g", " 00-\(trace)-\(parent)-01",
            "00-\(trace)-\(parent)-01 ", "00_\(trace)_\(parent)_01", "00-\(trace)x-\(parent)-01",
            "00-\(trace)-\(parent)-01\r\nx-evil: 1", "00-٤bf92f3577b34da6a3ce929d0e0e473-\(parent)-01",
        ]
    )
    func refuses(_ text: String) { #expect(TraceContext(parent: [text]) == nil) }

    @Test("two parents are none")
    func twice() {
        let text = "00-\(Self.trace)-\(Self.parent)-01"
        #expect(TraceContext(parent: [text, text]) == nil)
        #expect(TraceContext(parent: []) == nil)
    }

    @Test("the state is kept when it is valid, its headers joined and its blanks gone; otherwise it is left out")
    func states() {
        func state(_ texts: String...) -> String?? {
            TraceContext(parent: ["00-\(Self.trace)-\(Self.parent)-01"], state: texts).map(\.state)
        }
        #expect(state("congo=t61rcWkgMzE,rojo=00f067aa0ba902b7") == "congo=t61rcWkgMzE,rojo=00f067aa0ba902b7")
        #expect(state(" a=1 , \tb=2", "c=3,,") == "a=1,b=2,c=3")
        #expect(state("fw529a3039@dt=FfAAyA;x") == "fw529a3039@dt=FfAAyA;x")
        let wrong = [
            "", " , ", "a", "=1", "a=", "A=1", "1a=1", "a=1=2", "a=1,a=2", "a=\u{7f}", "a=é", "a=1\r\nx: 2", "a@b@c=1",
            "a@=1", "@b=1", "a=\(String(repeating: "x", count: 257))",
            (0..<33).map { "k\($0)=1" }.joined(separator: ","), String(repeating: "a=12345,", count: 80),
        ]
        for text in wrong { #expect(state(text) == .some(nil), "\(text)") }
    }

    @Test("a trace of our own is valid, and no two are alike")
    func ownTraces() {
        let ids = (0..<1000).map { _ in TraceContext().id }
        #expect(Set(ids).count == 1000)
        let own = TraceContext()
        #expect(TraceContext(parent: [own.parent()])?.id == own.id)
        #expect(own.parent().hasSuffix("-00"), "nobody is asked to record it")
    }
}
