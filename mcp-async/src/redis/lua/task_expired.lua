-- The tasks that have expired. KEYS: expiring tasks. ARGV: prefix of tasks, now, at most.
local found = {}
for _, id in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', ARGV[2], 'LIMIT', 0, ARGV[3])) do
  local record = redis.call('HGET', ARGV[1] .. id, 'd')
  if record then found[#found + 1] = record else redis.call('ZREM', KEYS[1], id) end
end
return found
