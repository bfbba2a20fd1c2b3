-- The events of a stream after a number, as far as there is no gap. KEYS: session. ARGV: stream, number.
local last = tonumber(redis.call('HGET', KEYS[1], 'l' .. ARGV[1]) or -1)
local after = tonumber(ARGV[2])
if after > last then return false end
local found = {}
local at = after
while at < last do
  local event = redis.call('HGET', KEYS[1], ARGV[1] .. ':' .. string.format('%.0f', at + 1))
  if not event then break end
  found[#found + 1] = event
  at = at + 1
end
if #found == 0 and at < last then return false end
local ended = at == last and redis.call('HEXISTS', KEYS[1], 'x' .. ARGV[1]) or 0
return { ended, found }
