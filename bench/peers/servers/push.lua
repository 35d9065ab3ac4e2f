-- Makes wrk push files of 1 KiB, each with different content, hash and clock: wrk -s push.lua URL -- FILES
local ffi = require('ffi')
ffi.cdef('unsigned char *SHA256(const unsigned char *data, size_t length, unsigned char *digest);')
local crypto = ffi.load('crypto')
local digest = ffi.new('unsigned char[32]')
local BYTES = 1024
local LINE = 'What stands here is text as people write it, "quoted" now and then.\n'
local ESCAPED = LINE:gsub('"', '\\"'):gsub('\n', '\\n')
local hex = {}
for byte = 0, 255 do hex[byte] = string.format('%02x', byte) end

function init(args)
  files = tonumber(args[1])
  count = 0
  -- Runs start at least a second apart, and none makes a million pushes: so each run starts
  -- above the clocks of the run before it, however fast that was.
  started = os.time() - 3600
  local lines = math.floor((BYTES - 20) / #LINE)
  local rest = string.rep('x', BYTES - 20 - lines * #LINE)
  raw = string.rep(LINE, lines) .. rest
  escaped = string.rep(ESCAPED, lines) .. rest
  wrk.method = 'POST'
  wrk.headers['Content-Type'] = 'application/json'
end

local function sha256(text)
  crypto.SHA256(text, #text, digest)
  local parts = {}
  for at = 0, 31 do parts[at + 1] = hex[digest[at]] end
  return table.concat(parts)
end

function request()
  count = count + 1
  local head = string.format('%010d %09d', started, count)
  local time = os.date('!%Y-%m-%dT%H:%M:%S', started + math.floor(count / 1000000))
  local clock = string.format('%s.%03dZ-%04X-89e4f1c2a0b3d756', time, math.floor(count / 1000) % 1000, count % 1000)
  local body = string.format(
    '{"path":"notes/%02d/note-%05d.md","content":"%s\\n%s","sha256":"%s","hlc":"%s","device_id":"bench"}',
    count % 100, count % files, head, escaped, sha256(head .. '\n' .. raw), clock)
  return wrk.format(nil, nil, nil, body)
end
