-- The tasks of dead processes that have not ended. KEYS: processes. ARGV: prefix of tasks, prefix of the tasks of a
-- process, now, at most.
local found = {}
for _, process in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', ARGV[3])) do
  local tasks = ARGV[2] .. process
  for _, id in ipairs(redis.call('SMEMBERS', tasks)) do
    if #found == tonumber(ARGV[4]) then return found end
    local record = redis.call('HGET', ARGV[1] .. id, 'd')
    if record then found[#found + 1] = record else redis.call('SREM', tasks, id) end
  end
  if redis.call('EXISTS', tasks) == 0 then redis.call('ZREM', KEYS[1], process) end
end
return found
