-- Renews the lease of a process or begins one, and returns its number and the other processes that live.
-- KEYS: processes. ARGV: process, number of the lease that it had, announcement, milliseconds of the lease.
local all = redis.call('HGETALL', KEYS[1])
local own
local live, keep = {}, 0
for i = 1, #all, 2 do
  local process, value = all[i], all[i + 1]
  local number, over, said = parts(value)
  if process == ARGV[1] then
    own = value
  elseif over > now then
    keep = math.max(keep, over)
    for _, part in ipairs({ process, number, said }) do live[#live + 1] = part end
  else
    redis.call('HDEL', KEYS[1], process)
  end
end
local number, over = renew(ARGV[1], own, ARGV[2], ARGV[4], ARGV[3])
redis.call('PEXPIREAT', KEYS[1], string.format('%.0f', math.max(keep, over) / 1000 + 1000))
return { number, live }
