-- The tasks of an owner after an id. KEYS: tasks of the owner. ARGV: prefix of tasks, after, at most.
local found = {}
for _, id in ipairs(redis.call('ZRANGEBYLEX', KEYS[1], ARGV[2], '+', 'LIMIT', 0, ARGV[3])) do
  local record = redis.call('HGET', ARGV[1] .. id, 'd')
  if record then found[#found + 1] = record else redis.call('ZREM', KEYS[1], id) end
end
return found
