-- Asks with the lines of a file, each thread from a place of its own; ends with one line that the bench reads.
local lines = {}
for line in io.lines(os.getenv("BODIES")) do lines[#lines + 1] = line end
local counter, at = 0, 0

function setup(thread)
  thread:set("start", counter)
  counter = counter + 1
end

function init()
  at = start * 7919 % #lines
end

function request()
  at = at % #lines + 1
  local headers = { ["Authorization"] = "Bearer " .. os.getenv("TOKEN"), ["Content-Type"] = "application/json" }
  return wrk.format("POST", nil, headers, lines[at])
end

function done(summary, latency)
  local e = summary.errors
  local errors = e.connect + e.read + e.write + e.status + e.timeout
  local each = summary.requests / (summary.duration / 1e6)
  io.write(string.format("RESULT %d %.3f %.3f %.3f %d\n", summary.requests, each, latency:percentile(50) / 1e3,
    latency:percentile(99) / 1e3, errors))
end
