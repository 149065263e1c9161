import Foundation
import Glibc

// What nothing built on it can go below, as microseconds of CPU: `bench-floor scrypt SECONDS` hashes passwords on as many
// threads as there are cores; `bench-floor call URL SECONDS` posts a form to an identity provider from 64 tasks.

let arguments = CommandLine.arguments.dropFirst()
let count: Int
switch (arguments.first, arguments.count, arguments.last.flatMap(Double.init)) {
case ("scrypt", 2, let seconds?): count = Hashing.run(until: Date().addingTimeInterval(seconds))
case ("call", 3, let seconds?):
    count = await Calling.run(url: arguments.dropFirst().first ?? "", until: Date().addingTimeInterval(seconds))
default:
    FileHandle.standardError.write(Data("usage: bench-floor scrypt SECONDS | call URL SECONDS\n".utf8))
    exit(64)
}
guard count > 0 else { exit(1) }
var usage = rusage()
getrusage(.init(RUSAGE_SELF.rawValue), &usage)
let spent =
    Double(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1_000_000
    + Double(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec)
print(spent / Double(count))
