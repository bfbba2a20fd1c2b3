-- The numbers of the leases of processes, empty for one that does not live. KEYS: processes. ARGV: their names.
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local found = redis.call('HMGET', KEYS[1], unpack(ARGV))
for i = 1, #ARGV do
  local number, over = string.match(found[i] or '', '^(%d+) (%d+) ')
  found[i] = number and tonumber(over) > now and number or ''
end
return found
