-- Load for wrk: sends the requests of a file in turn, and writes one line of JSON at the end.
--
-- wrk … -s load.lua URL -- REQUESTS [once] [follow] [keep=FILE]
--   REQUESTS  a line for each request: method, path, content type, body, and perhaps a header, separated by tabs
--   once      stops when every request was sent
--   follow    puts the refresh token of each answer in the place of the one that was sent (answers name the account)
--   keep=FILE appends members of each answer, or of where it leads, to a file: account, ID token and refresh token, or
--   those named by members=a,b
--   bearer=TOKEN  the admin credential of all of them
--   pause=MS  each connection waits between its requests, this long on average
local requests, next_index, place, options, kept = {}, 1, {}, {}, nil
local failures = 0
local members = { "user_id", "id_token", "refresh_token" }

local function prepare(line)
  local method, path, kind, body, header = line:match("^([^\t]*)\t([^\t]*)\t([^\t]*)\t([^\t]*)\t?(.*)$")
  return { method = method, path = path, kind = kind, body = body, header = header }
end

local function format(request)
  local headers = { ["Host"] = wrk.headers["Host"] }
  if request.kind ~= "" then headers["Content-Type"] = request.kind end
  if request.header ~= "" then
    local name, value = request.header:match("^([^:]*): (.*)$")
    headers[name] = value
  end
  if options.bearer then headers["Authorization"] = "Bearer " .. options.bearer end
  request.text = wrk.format(request.method, request.path, headers, request.body ~= "" and request.body or nil)
end

function init(arguments)
  for index = 2, #arguments do
    local name, value = arguments[index]:match("^(%w+)=?(.*)$")
    options[name] = value
  end
  if options.members then
    members = {}
    for name in options.members:gmatch("[^,]+") do members[#members + 1] = name end
  end
  if options.pause then
    local most = 2 * tonumber(options.pause)
    delay = function() return math.random(0, most) end
  end
  if options.keep then kept = io.open(options.keep, "a") end
  for line in io.lines(arguments[1]) do
    local request = prepare(line)
    format(request)
    requests[#requests + 1] = request
    local account = options.follow and request.body:match("refresh_token=.*&account=([%w]+)")
    if account then place[account] = #requests end
  end
  -- Only answers that are needed are looked at.
  if not options.follow and not options.keep then response = function(status) if status >= 400 then failures = failures + 1 end end end
end

function request()
  local current = requests[next_index]
  next_index = next_index + 1
  if next_index > #requests then
    if options.once then
      -- wrk sleeps for all of its duration; this is its Ctrl-C.
      wrk.thread:stop()
      os.execute("(sleep 0.1; kill -INT $PPID) &")
    end
    next_index = 1
  end
  return current.text
end

function response(status, headers, body)
  if status >= 400 then
    failures = failures + 1
    if failures <= 3 then io.stderr:write(status, " ", body, "\n") end
    return
  end
  local function member(name)
    return body:match('"' .. name .. '":"([^"]*)"') or (headers["Location"] or ""):match("[?&]" .. name .. "=([^&]*)")
  end
  local account = options.follow and member("user_id")
  if account and place[account] then
    local current = requests[place[account]]
    current.body = current.body:gsub("refresh_token=[^&]*", "refresh_token=" .. member("refresh_token"))
    format(current)
  end
  if kept then
    local values = {}
    for index, name in ipairs(members) do values[index] = member(name) end
    kept:write(table.concat(values, "\t"), "\n")
  end
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '{"requests": %d, "seconds": %.6f, "p50_us": %d, "p99_us": %d, "failures": %d}\n',
    summary.requests, summary.duration / 1e6, latency:percentile(50), latency:percentile(99),
    errors.connect + errors.read + errors.write + errors.status + errors.timeout
  ))
end
