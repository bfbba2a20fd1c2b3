-- The numbers of the leases of processes, empty for one that does not live. KEYS: processes. ARGV: their names.
local found = redis.call('HMGET', KEYS[1], unpack(ARGV))
for i = 1, #ARGV do
  local number, over = parts(found[i])
  found[i] = over > now and number or ''
end
return found
