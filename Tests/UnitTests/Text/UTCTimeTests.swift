import Text
import Testing

@Suite("UTC times")
struct UTCTimeTests {
    @Test(
        "an HTTP date is read as it is written (RFC 9110 §5.6.7)",
        arguments: [
            ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
            ("Thu, 29 Feb 2024 23:59:59 GMT", 1_709_251_199), ("Fri, 31 Dec 9999 23:59:59 GMT", 253_402_300_799),
        ] as [(String, Int64)]
    )
    func reads(_ text: String, _ seconds: Int64) {
        #expect(UTCTime.seconds(httpDate: text) == seconds)
        #expect(UTCTime(seconds: seconds).dated + " GMT" == text)
    }

    @Test(
        "what is no date in that form is none",
        arguments: [
            "", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994", "Mon, 06 Nov 1994 08:49:37 GMT",
            "Thu, 30 Feb 2024 00:00:00 GMT", "Sun, 06 Nov 1994 08:49:60 GMT", "Sun, 6 Nov 1994 08:49:37 GMT",
            "Sun, 06 Nov 1994 08:49:37 UTC", "Sun, 06 Nov 99999999999999999999 08:49:37 GMT",
            "Sun, 06 Nov 1994 08:9223372036854775807:37 GMT", "Sun, -6 Nov 1994 08:49:37 GMT",
        ]
    )
    func refuses(_ text: String) {
        #expect(UTCTime.seconds(httpDate: text) == nil)
    }
}
