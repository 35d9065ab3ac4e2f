-- Makes wrk send one request repeatedly: wrk -s requests.lua URL [-- BODY]; with a body it is a POST.
-- The day 0000-00-00 in the URL or the body is replaced with another day in each request: some 600,000 days of the first 1,900 years.
-- A query ending with &~ is spelled differently in each request: with other letters percent-encoded.
local DAY = '0000%-00%-00'
local SPELLED = '%?([^ ]*)&~'
local count = 0

function init(args)
  if args[1] then
    wrk.method = 'POST'
    wrk.body = args[1]
    wrk.headers['Content-Type'] = 'application/json'
  end
  whole = wrk.format()
  varies = whole:find(DAY) ~= nil
  spells = whole:find(SPELLED) ~= nil
  math.randomseed(os.time())
  count = math.random(600000)
end

-- Returns the query with the letters selected by the bits of the count percent-encoded.
local function spelled(query)
  local bits = count
  return '?' .. query:gsub('%a', function(letter)
    local bit = bits % 2
    bits = (bits - bit) / 2
    return bit == 1 and string.format('%%%02X', letter:byte()) or letter
  end)
end

function request()
  if not varies and not spells then return whole end
  count = count + 1
  if spells then return (whole:gsub(SPELLED, spelled, 1)) end
  local year = math.floor(count / 336) % 1900 + 1
  local month = math.floor(count / 28) % 12 + 1
  return (whole:gsub(DAY, string.format('%04d-%02d-%02d', year, month, count % 28 + 1), 1))
end
